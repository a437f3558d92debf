import CivilTime
import Decision
import JSON
import Testing

/// The readings of flags by each format, and flags that are no order.
@Suite struct FormatTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let format: Format
        let flags: String
        /// The reading as `FormatTests.line` writes it, or the error.
        let expected: String

        init(_ name: String, _ format: Format, _ flags: String, _ expected: String) {
            self.name = name
            self.format = format
            self.flags = flags
            self.expected = expected
        }

        var testDescription: String { name }
    }

    @Test(arguments: serviceEnd + status + maintenance + switchObject + limits)
    func eachFormatReadsItsFlags(_ row: Case) throws {
        let flags = try FlagDocument.parse(Array(row.flags.utf8))
        let logged: String
        do {
            logged = Self.line(try row.format.read(flags, in: try zone("Asia/Tokyo")))
        } catch let error as InvalidFlag {
            logged = "\(error)"
        }
        if row.expected.hasSuffix(": ") {
            #expect(logged.hasPrefix(row.expected) && logged.count > row.expected.count)
        } else {
            #expect(logged == row.expected)
        }
    }

    private static func line(_ reading: Reading) -> String {
        var words = reading.claims.map { claim in
            switch claim {
            case .running: "running"
            case .countdown(.at(let end)): "countdown to \(Zone.utc.rfc3339(end))"
            case .countdown(.unreadable(let text)): "countdown to '\(text)'"
            case .maintenance: "maintenance"
            case .updateRequired: "update-required"
            case .countdown(.unlogged): "countdown"
            case .window(let window):
                "window \(Zone.utc.rfc3339(window.from))/\(Zone.utc.rfc3339(window.until))"
            case .minimumVersion(let version): "minimum=\(version)"
            case .ended: "ended"
            }
        }
        if let title = reading.texts.title { words.append("title=\(title)") }
        if let message = reading.texts.message { words.append("message=\(message)") }
        if let version = reading.version { words.append("version=\(version)") }
        if let expires = reading.expires {
            words.append("expires=\(Zone.utc.rfc3339(expires))")
        }
        if let retry = reading.retryAfter { words.append("retry=\(retry.wholeSeconds)") }
        return words.joined(separator: " ")
    }
}
