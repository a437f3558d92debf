import Decision
import JSON

/// Reads the stream of invalidations: one JSON array that is never closed, of flat objects.
///
/// Objects are told apart by braces and quotes: several may come at once, and each may come byte by
/// byte. What lies between them is not looked at further than to see that it is JSON.
package struct InvalidationParser: StreamParser {
    /// The longest object that is taken; a true one has some fifty bytes.
    private static let limit = 64 << 10

    private let note: (Int64) -> Bool
    private var object: [UInt8] = []
    private var depth = 0
    private var isInString = false
    private var isEscaped = false

    /// `note` takes the number of a version that is said to exist, and says whether it is news.
    package init(note: @escaping (_ version: Int64) -> Bool) {
        self.note = note
    }

    package mutating func take(_ bytes: [UInt8], _ news: inout StreamNews) {
        for byte in bytes where news.failure == nil { take(byte, &news) }
    }

    /// An object that was cut off is none.
    package mutating func finish(_ news: inout StreamNews) {}

    private mutating func take(_ byte: UInt8, _ news: inout StreamNews) {
        guard depth > 0 else { return takeBetween(byte, &news) }
        object.append(byte)
        guard object.count <= Self.limit else {
            news.failure = Failure(.invalid, "an object of the stream is too long")
            return
        }
        if isInString {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString = false
            }
            return
        }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"): depth += 1
        case UInt8(ascii: "}"): depth -= 1
        default: break
        }
        guard depth == 0 else { return }
        read(&news)
        object.removeAll(keepingCapacity: true)
    }

    private mutating func takeBetween(_ byte: UInt8, _ news: inout StreamNews) {
        switch byte {
        case UInt8(ascii: "{"):
            object.append(byte)
            depth = 1
        case UInt8(ascii: "["), UInt8(ascii: ","), UInt8(ascii: "]"), 0x20, 0x09, 0x0A, 0x0D:
            break
        default:
            news.failure = Failure(.invalid, "the stream is not JSON")
        }
    }

    private func read(_ news: inout StreamNews) {
        guard
            case .success(.object(let members)) = Result(catching: { try JSON.Value.parse(object) })
        else {
            news.failure = Failure(.invalid, "an object of the stream is not JSON")
            return
        }
        if let seconds = members["retryIntervalSeconds"]?.wholeNumber {
            news.retryAfter = .seconds(max(0, min(seconds, 86_400)))
        }
        if let version = members["latestTemplateVersionNumber"]?.wholeNumber, note(version) {
            news.isHint = true
        }
        // Its presence alone means nothing: false is how it is switched on.
        if members["featureDisabled"]?.bool == true {
            news.failure = Failure(.refused, "the service has switched its stream off")
        } else if let message = GoogleError.message(in: members) {
            news.failure = Failure(.unreachable, "the stream ends with an error: \(message)")
        }
    }
}

extension JSON.Value {
    /// A whole number, or a text that holds one: the service writes 64 bits both ways.
    fileprivate var wholeNumber: Int64? {
        number?.int64 ?? string.flatMap { Int64($0) }
    }
}
