import Decision
import JSON

/// Reads the stream of invalidations: one JSON array, never closed, of flat objects, found by braces and
/// quotes: they come byte by byte. Between them only brackets, commas and white space are accepted.
package struct InvalidationParser: StreamParser {
    /// The longest object, in bytes; the service sends about fifty.
    private static let limit = 64 << 10

    private let versionAnnounced: (Int64) -> Bool
    private var object: [UInt8] = []
    private var depth = 0
    private var isInString = false
    private var isEscaped = false

    /// `versionAnnounced` receives the number of an announced version, and returns whether it is newer.
    package init(versionAnnounced: @escaping (_ version: Int64) -> Bool) {
        self.versionAnnounced = versionAnnounced
    }

    /// Reads objects until one of them ends the stream.
    package mutating func parse(_ bytes: [UInt8], _ update: inout StreamUpdate) {
        for byte in bytes where update.failure == nil { parse(byte, &update) }
    }

    private mutating func parse(_ byte: UInt8, _ update: inout StreamUpdate) {
        guard depth > 0 else { return parseBetween(byte, &update) }
        object.append(byte)
        guard object.count <= Self.limit else {
            update.failure = Failure(.invalid, "an object of the stream is too long")
            return
        }
        if isInString {
            if byte == UInt8(ascii: "\""), !isEscaped { isInString = false }
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
            return
        }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"): depth += 1
        case UInt8(ascii: "}"): depth -= 1
        default: break
        }
        guard depth == 0 else { return }
        read(&update)
        object.removeAll(keepingCapacity: true)
    }

    private mutating func parseBetween(_ byte: UInt8, _ update: inout StreamUpdate) {
        switch byte {
        case UInt8(ascii: "{"):
            object.append(byte)
            depth = 1
        case UInt8(ascii: "["), UInt8(ascii: ","), UInt8(ascii: "]"), 0x20, 0x09, 0x0A, 0x0D: break
        default: update.failure = Failure(.invalid, "the stream is not JSON")
        }
    }

    private func read(_ update: inout StreamUpdate) {
        guard
            case .success(.object(let members)) = Result(catching: { try JSON.Value.parse(object) })
        else {
            update.failure = Failure(.invalid, "an object of the stream is not JSON")
            return
        }
        if let seconds = members["retryIntervalSeconds"]?.wholeNumber {
            update.retryAfter = .seconds(max(0, min(seconds, 86_400)))
        }
        if let version = members["latestTemplateVersionNumber"]?.wholeNumber,
            versionAnnounced(version)
        {
            update.isHint = true
        }
        // False means that the stream is enabled.
        if members["featureDisabled"]?.bool == true {
            update.failure = Failure(.refused, "the service has switched its stream off")
        } else if let message = members.googleError {
            update.failure = Failure(.unreachable, "the stream ends with an error: \(message)")
        }
    }
}

extension JSON.Value {
    /// A whole number, or a string that holds one: the service writes 64-bit numbers both ways.
    fileprivate var wholeNumber: Int64? { number?.int64 ?? string.flatMap { Int64($0) } }
}
