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
        /// The reading as `FormatTests.line` writes it, or the error; `…` stands for any end.
        let expected: String

        /// Each line of the table is a name, flags and what is expected.
        static func rows(_ format: Format, _ table: String) -> [Case] {
            table.split(separator: "\n").map { line in
                let cells = line.split(separator: " | ").map(String.init)
                return Case(name: cells[0], format: format, flags: cells[1], expected: cells[2])
            }
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
        if row.expected.hasSuffix(": …") {
            #expect(logged.hasPrefix(row.expected.dropLast()))
            #expect(logged.count >= row.expected.count)
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
    static let serviceEnd: [Case] =
        Case.rows(
            .serviceEnd,
            #"""
            no runs | {"service_end": "no"} | running
            the older key | {"is_service_end": "no"} | running
            the newer key wins | {"is_service_end": "no", "service_end": "over"} | ended
            any other word ends | {"service_end": "yes"} | ended
            the empty text ends | {"service_end": ""} | ended
            words are exact | {"service_end": "No"} | ended
            spaces count | {"service_end": " no"} | ended
            a countdown in the older form | {"service_end": "countdown", "service_countdown": "2018-09-30T08:00:00+0000"} | countdown to 2018-09-30T08:00:00+00:00
            a countdown in RFC 3339 | {"service_end": "countdown", "service_countdown": "2018-09-30T17:00:00+09:00"} | countdown to 2018-09-30T08:00:00+00:00
            a time without an offset is the zone's | {"service_end": "countdown", "service_countdown": "2018-09-30T17:00:00"} | countdown to 2018-09-30T08:00:00+00:00
            a date is the zone's midnight | {"service_end": "countdown", "service_countdown": "2018-09-30"} | countdown to 2018-09-29T15:00:00+00:00
            a date that is none | {"service_end": "countdown", "service_countdown": "30.09.2018"} | countdown to '30.09.2018'
            a countdown without its key | {"service_end": "countdown"} | key 'service_countdown' is missing
            a countdown of a wrong type | {"service_end": "countdown", "service_countdown": 1538294400} | key 'service_countdown' is a number, not a string
            nothing | {} | key 'service_end' is missing
            a Boolean is no word | {"service_end": false} | key 'service_end' is a boolean, not a string
            null is no word | {"service_end": null} | key 'service_end' is null, not a string
            """#)
}

/// The format `maintenance`: one Boolean and two texts.
extension FormatTests {
    private static let parameter = Format.maintenance(.memberOrWhole("server_maintenance_config"))

    static let maintenance: [Case] =
        Case.rows(
            parameter,
            #"""
            Japanese texts | {"isUnderMaintenance":true,"title":"メンテナンス中","message":"しばらくお待ちください。"} | maintenance title=メンテナンス中 message=しばらくお待ちください。
            Japanese texts in a parameter | {"server_maintenance_config":"{\"isUnderMaintenance\":true,\"title\":\"メンテナンス中\",\"message\":\"\\u3057\\u3070\"}"} | maintenance title=メンテナンス中 message=しば
            an object as the parameter | {"server_maintenance_config":{"isUnderMaintenance":"true"}} | maintenance
            the texts wait for the maintenance | {"isUnderMaintenance":false,"title":"T","message":"M"} | running
            a title of a wrong type | {"isUnderMaintenance":true,"title":1} | key 'title' is a number, not a string or null
            nothing | {} | key 'server_maintenance_config' is missing
            an empty parameter | {"server_maintenance_config":""} | key 'server_maintenance_config' holds no valid JSON: …
            """#)
}
