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

/// The format `service-end`: one word, and the end of a countdown.
extension FormatTests {
    static let serviceEnd: [Case] = [
        Case("no runs", .serviceEnd, #"{"service_end": "no"}"#, "running"),
        Case("the older key", .serviceEnd, #"{"is_service_end": "no"}"#, "running"),
        Case(
            "the newer key wins", .serviceEnd,
            #"{"is_service_end": "no", "service_end": "over"}"#, "ended"),
        Case("any other word ends", .serviceEnd, #"{"service_end": "yes"}"#, "ended"),
        Case("the empty text ends", .serviceEnd, #"{"service_end": ""}"#, "ended"),
        Case("words are exact", .serviceEnd, #"{"service_end": "No"}"#, "ended"),
        Case("spaces count", .serviceEnd, #"{"service_end": " no"}"#, "ended"),
        Case(
            "a countdown in the older form", .serviceEnd,
            #"{"service_end": "countdown", "service_countdown": "2018-09-30T08:00:00+0000"}"#,
            "countdown to 2018-09-30T08:00:00+00:00"),
        Case(
            "a countdown in RFC 3339", .serviceEnd,
            #"{"service_end": "countdown", "service_countdown": "2018-09-30T17:00:00+09:00"}"#,
            "countdown to 2018-09-30T08:00:00+00:00"),
        Case(
            "a time without an offset is the zone's", .serviceEnd,
            #"{"service_end": "countdown", "service_countdown": "2018-09-30T17:00:00"}"#,
            "countdown to 2018-09-30T08:00:00+00:00"),
        Case(
            "a date is the zone's midnight", .serviceEnd,
            #"{"service_end": "countdown", "service_countdown": "2018-09-30"}"#,
            "countdown to 2018-09-29T15:00:00+00:00"),
        Case(
            "a date that is none", .serviceEnd,
            #"{"service_end": "countdown", "service_countdown": "30.09.2018"}"#,
            "countdown to '30.09.2018'"),
        Case(
            "a countdown without its key", .serviceEnd, #"{"service_end": "countdown"}"#,
            "key 'service_countdown' is missing"),
        Case(
            "a countdown of a wrong type", .serviceEnd,
            #"{"service_end": "countdown", "service_countdown": 1538294400}"#,
            "key 'service_countdown' is a number, not a string"),
        Case("nothing", .serviceEnd, "{}", "key 'service_end' is missing"),
        Case(
            "a Boolean is no word", .serviceEnd, #"{"service_end": false}"#,
            "key 'service_end' is a boolean, not a string"),
        Case(
            "null is no word", .serviceEnd, #"{"service_end": null}"#,
            "key 'service_end' is null, not a string"),
    ]
}

/// The format `maintenance`: one Boolean and two texts.
extension FormatTests {
    private static let parameter = Format.maintenance(.memberOrWhole("server_maintenance_config"))

    static let maintenance: [Case] = [
        Case(
            "Japanese texts", parameter,
            #"{"isUnderMaintenance":true,"title":"メンテナンス中","message":"しばらくお待ちください。"}"#,
            "maintenance title=メンテナンス中 message=しばらくお待ちください。"),
        Case(
            "Japanese texts in a parameter", parameter,
            #"{"server_maintenance_config":"{\"isUnderMaintenance\":true,\"title\":\"メンテナンス中\",\"message\":\"\\u3057\\u3070\"}"}"#,
            "maintenance title=メンテナンス中 message=しば"),
        Case(
            "an object as the parameter", parameter,
            #"{"server_maintenance_config":{"isUnderMaintenance":"true"}}"#, "maintenance"),
        Case(
            "the texts wait for the maintenance", parameter,
            #"{"isUnderMaintenance":false,"title":"T","message":"M"}"#, "running"),
        Case(
            "a title of a wrong type", parameter, #"{"isUnderMaintenance":true,"title":1}"#,
            "key 'title' is a number, not a string or null"),
        Case("nothing", parameter, "{}", "key 'server_maintenance_config' is missing"),
        Case(
            "an empty parameter", parameter, #"{"server_maintenance_config":""}"#,
            "key 'server_maintenance_config' holds no valid JSON: "),
    ]
}
