import JSON
import Testing

/// A document that is JSON, and the value it holds. The name begins with the section of RFC 8259.
struct Accepted: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    let value: Value

    init(_ name: String, _ text: String, _ value: Value) {
        self.init(name, Array(text.utf8), value)
    }

    init(_ name: String, _ bytes: [UInt8], _ value: Value) {
        self.name = name
        self.bytes = bytes
        self.value = value
    }

    var testDescription: String { name }
}

/// What a document may go on with, as errors name it.
enum Expected: String {
    case value = "a value"
    case valueOrEnd = "a value or ']'"
    case end = "nothing after the value"
    case key = "a key in double quotes"
    case keyOrEnd = "a key in double quotes or '}'"
    case colon = "':'"
    case comma = "',' or ']'"
    case commaOfObject = "',' or '}'"
    case digit = "a digit"
    case noDigit = "no digit after a leading 0"
    case escape = "one of \" \\ / b f n r t u after the backslash"
    case digits = "four hexadecimal digits"
    case control = "control characters in a string to be escaped"
}

/// A document that is not JSON, the offset of the error, and the whole error text.
struct Refused: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    let offset: Int
    let error: String

    init(_ name: String, _ text: String, at offset: Int, _ error: String) {
        self.init(name, Array(text.utf8), at: offset, error)
    }

    init(_ name: String, _ bytes: [UInt8], at offset: Int, _ error: String) {
        self.name = name
        self.bytes = bytes
        self.offset = offset
        self.error = error
    }

    /// Refused for what stands at its offset.
    init(_ name: String, _ text: String, at offset: Int, _ found: String, expected: Expected) {
        let lines = Array(text.utf8)[..<offset].split(
            separator: 0x0A, omittingEmptySubsequences: false)
        let column =
            String(decoding: lines[lines.count - 1], as: UTF8.self).unicodeScalars.count + 1
        self.init(
            name, text, at: offset,
            "unexpected \(found) at line \(lines.count), column \(column): expected \(expected.rawValue)"
        )
    }

    static func notUTF8(
        _ name: String, _ bytes: [UInt8], at offset: Int = 0, _ problem: String
    ) -> Refused {
        let place = place(of: offset, in: bytes)
        return Refused(name, bytes, at: offset, "not UTF-8 \(place): \(problem)")
    }

    static func twice(_ name: String, _ text: String, at offset: Int, _ key: String) -> Refused {
        let place = place(of: offset, in: Array(text.utf8))
        return Refused(
            name, text, at: offset,
            "duplicate key '\(key)' \(place): expected each key once in an object")
    }

    private static func place(of offset: Int, in bytes: [UInt8]) -> String {
        let lines = bytes[..<offset].split(separator: 0x0A, omittingEmptySubsequences: false)
        return "at line \(lines.count), column \((lines.last?.count ?? 0) + 1)"
    }

    var testDescription: String { name }
}

func expect(_ document: Accepted, at location: SourceLocation = #_sourceLocation) throws {
    let value = try Value.parse(document.bytes)
    #expect(value == document.value, sourceLocation: location)
}

func expect(_ document: Refused, at location: SourceLocation = #_sourceLocation) {
    let error = refusal(of: document.bytes)
    #expect(error?.description == document.error, sourceLocation: location)
    #expect(error?.offset == document.offset, sourceLocation: location)
}

/// The error that the document is refused with; nil where it is accepted.
func refusal(of bytes: [UInt8], depthLimit: Int = 64) -> SyntaxError? {
    do throws(SyntaxError) {
        _ = try Value.parse(bytes, depthLimit: depthLimit)
        return nil
    } catch {
        return error
    }
}

func number(_ literal: String) -> Value {
    guard let number = Number(literal: literal) else {
        Issue.record("not a number: \(literal)")
        return .null
    }
    return .number(number)
}
