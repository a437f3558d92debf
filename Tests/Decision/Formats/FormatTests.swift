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

    @Test(arguments: serviceEnd + boolean + status + maintenance + switchObject + limits + alone)
    func eachFormatReadsItsFlags(_ row: Case) throws {
        let flags = try FlagDocument.parse(Array(row.flags.utf8), alone: .word)
        let logged: String
        do {
            logged = Self.line(try row.format.read(flags, in: try zone("Asia/Tokyo")))
        } catch let error as InvalidFlag {
            logged = "\(error)"
        }
        if row.expected.hasSuffix("…") {
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
            case .countdown(.within(let range)):
                "countdown to \(Zone.utc.rfc3339(range.lowerBound)) or later"
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
        if let expires = reading.expires { words.append("expires=\(Zone.utc.rfc3339(expires))") }
        if let retry = reading.retryAfter { words.append("retry=\(retry.wholeSeconds)") }
        for clause in reading.leniencies { words.append("(\(clause))") }
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
            a time in minutes is the zone's | {"service_end": "countdown", "service_countdown": "2030-12-31T23:59"} | countdown to 2030-12-31T14:59:00+00:00
            a time in minutes with an offset | {"service_end": "countdown", "service_countdown": "2030-12-31T23:59Z"} | countdown to 2030-12-31T23:59:00+00:00
            a date that is none | {"service_end": "countdown", "service_countdown": "30.09.2018"} | countdown to '30.09.2018'
            a countdown without its key | {"service_end": "countdown"} | countdown (key 'service_countdown' is missing; the days left are unknown)
            a countdown whose key is null | {"service_end": "countdown", "service_countdown": null} | countdown (key 'service_countdown' is missing; the days left are unknown)
            a countdown whose key has a slip | {"service_end": "countdown", "service_countdwon": "2030-12-31T23:59:00Z"} | countdown (key 'service_countdown' is missing; the days left are unknown) (key 'service_countdwon' is unknown and ignored; did you mean 'service_countdown'?)
            a countdown to an unset time | {"service_end": "countdown", "service_countdown": "0001-01-01T00:00:00Z"} | countdown (key 'service_countdown' is a time before 2000, which is no date; it counts as absent: '"0001-01-01T00:00:00Z"')
            a countdown of a wrong type | {"service_end": "countdown", "service_countdown": 1538294400} | countdown to '1538294400'
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
            a title of a wrong type | {"isUnderMaintenance":true,"title":1} | maintenance (key 'title' is a number, not a string or null; it counts as absent: '1')
            a slip in a key | {"isUnderMaintenance":true,"titel":"T"} | maintenance (key 'titel' is unknown and ignored; did you mean 'title'?)
            nothing | {} | key 'server_maintenance_config' is missing
            an empty parameter | {"server_maintenance_config":""} | key 'server_maintenance_config' holds no valid JSON: …
            """#)

    // MARK: - The format `status`: two Booleans, an interval and a message

    static let status: [Case] =
        Case.rows(
            .status(.whole),
            #"""
            all is well | {"apiInactive":false,"forceUpdate":false,"retryInterval":15,"userMessage":null} | running retry=15
            inactive | {"apiInactive":true,"forceUpdate":false,"retryInterval":15,"userMessage":null} | maintenance retry=15
            an update | {"apiInactive":false,"forceUpdate":true,"retryInterval":15,"userMessage":null} | update-required retry=15
            an update wins | {"apiInactive":true,"forceUpdate":true,"retryInterval":15,"userMessage":null} | update-required maintenance retry=15
            a message | {"apiInactive":true,"forceUpdate":false,"userMessage":"Back at 9"} | maintenance message=Back at 9
            words for Booleans | {"apiInactive":"Yes","forceUpdate":"OFF"} | maintenance
            a word for no Boolean | {"apiInactive":"ture","forceUpdate":"no"} | key 'apiInactive' is 'ture', not a Boolean
            a number is no Boolean | {"apiInactive":1,"forceUpdate":0} | key 'apiInactive' is a number, not a Boolean
            without forceUpdate | {"apiInactive":true} | key 'forceUpdate' is missing
            an interval of nothing | {"apiInactive":false,"forceUpdate":false,"retryInterval":null} | running
            an interval too short | {"apiInactive":false,"forceUpdate":false,"retryInterval":-5} | running retry=1
            an interval too long | {"apiInactive":false,"forceUpdate":false,"retryInterval":9000000000000000000} | running retry=3600
            an interval that is no whole number | {"apiInactive":false,"forceUpdate":false,"retryInterval":1.5} | running (key 'retryInterval' is the number '1.5', not a whole number of seconds; it counts as absent: '1.5')
            an interval in a string | {"apiInactive":true,"forceUpdate":false,"retryInterval":"15"} | maintenance retry=15
            an interval with a fraction of nothing | {"apiInactive":true,"forceUpdate":false,"retryInterval":15.0} | maintenance retry=15
            an interval with a slip in its key | {"apiInactive":true,"forceUpdate":false,"retryinterval":15} | maintenance (key 'retryinterval' is unknown and ignored; did you mean 'retryInterval'?)
            a message of a wrong type | {"apiInactive":true,"forceUpdate":false,"userMessage":["a"]} | maintenance (key 'userMessage' is an array, not a string or null; it counts as absent: '["a"]')
            """#)
        + Case.rows(
            .status(.member("api")),
            #"""
            a member | {"api":{"apiInactive":true,"forceUpdate":false}} | maintenance
            a string that holds an object | {"api":"{\"apiInactive\":true,\"forceUpdate\":false}"} | maintenance
            a string that holds no JSON | {"api":"<html>"} | key 'api' holds no valid JSON: …
            a string that holds no object | {"api":"true"} | key 'api' is a boolean in a string, not an object
            the member is missing | {"apiInactive":true,"forceUpdate":false} | key 'api' is missing
            the member is a list | {"api":[]} | key 'api' is an array, not an object
            """#)

    // MARK: - The format `switch`: a state, windows, versions and expiry

    private static let own = Format.switchObject(.whole)

    private static func text(_ count: Int) -> String { String(repeating: "é", count: count) }

    private static func windows(_ count: Int) -> String {
        let window = #"{"from":"2027-03-01T00:00:00Z","until":"2027-03-01T01:00:00Z"}"#
        return Array(repeating: window, count: count).joined(separator: ",")
    }

    static let limits: [Case] =
        Case.rows(
            own,
            #"""
            the longest title | {"state":"maintenance","title":"\#(text(200))"} | maintenance title=\#(text(200))
            a title that is too long | {"state":"maintenance","title":"\#(text(201))"} | maintenance title=\#(text(199))… (key 'title' has 201 characters, and at most 200 are read; it is cut: …
            a message that is too long | {"state":"ended","message":"\#(text(4001))"} | ended message=\#(text(3999))… (key 'message' has 4001 characters, and at most 4000 are read; it is cut: …
            a flag of two scalars is not cut in two | {"state":"ended","title":"\#(text(198))🇩🇪🇩🇪"} | ended title=\#(text(198))… (key 'title' has 202 characters, and at most 200 are read; it is cut: …
            """#)
        + Case.rows(
            .status(.whole),
            #"""
            a message of the format status | {"apiInactive":false,"forceUpdate":false,"userMessage":"\#(text(4001))"} | running message=\#(text(3999))… (key 'userMessage' has 4001 characters, and at most 4000 are read; it is cut: …
            """#)
        + Case.rows(
            .maintenance(.whole),
            #"""
            a title of the format maintenance | {"isUnderMaintenance":true,"title":"\#(text(201))"} | maintenance title=\#(text(199))… (key 'title' has 201 characters, and at most 200 are read; it is cut: …
            """#)
        + Case.rows(
            own,
            #"""
            a title of a window | {"state":"running","windows":[{"from":"2027-03-01T00:00:00Z","until":"2027-03-01T01:00:00Z","title":"\#(text(201))"}]} | running window 2027-03-01T00:00:00+00:00/2027-03-01T01:00:00+00:00 (key 'windows[0].title' has 201 characters, and at most 200 are read; it is cut: …
            too many windows beside an end | {"state":"ended","windows":[\#(windows(65))]} | ended (key 'windows' has 65 windows, and at most 64 are read; it counts as absent: …
            too many windows | {"state":"running","windows":[\#(windows(65))]} | key 'windows' has 65 windows, and at most 64 are read
            a version that is too long | {"state":"running","minimum_version":"1.\#(String(repeating: "0", count: 255))"} | key 'minimum_version' has 257 bytes, and at most 256 are read
            """#)

    static let switchObject: [Case] =
        Case.rows(
            own,
            #"""
            a state | {"state":"maintenance","title":"T"} | maintenance title=T
            nobody orders not to know | {"state":"undecided"} | key 'state' is 'undecided', not a state; the states are running, countdown, maintenance, update-required and ended
            an unknown word | {"state":"Running"} | key 'state' is 'Running', not a state; the states are running, countdown, maintenance, update-required and ended
            without a state | {"title":"T"} | key 'state' is missing
            an end makes it count down | {"state":"running","ends_at":"2027-03-01T00:00:00Z"} | running countdown to 2027-03-01T00:00:00+00:00
            a countdown | {"state":"countdown","ends_at":"2027-03-01T00:00:00Z"} | countdown to 2027-03-01T00:00:00+00:00
            a countdown to nobody knows when | {"state":"countdown"} | countdown
            what has ended does not end again | {"state":"ended","ends_at":"2027-03-01T00:00:00Z"} | ended
            an end that is no time | {"state":"running","ends_at":"2027-03-01"} | key 'ends_at' is '2027-03-01', not an RFC 3339 time
            everything | {"state":"running","windows":[{"from":"2027-03-01T00:00:00Z","until":"2027-03-01T01:00:00Z"}],"minimum_version":"1.2","version":7,"expires":"2027-04-01T00:00:00Z","message":"M","retry_after":5} | running window 2027-03-01T00:00:00+00:00/2027-03-01T01:00:00+00:00 minimum=1.2 message=M version=7 expires=2027-04-01T00:00:00+00:00 retry=5
            nulls are left out | {"state":"running","windows":null,"minimum_version":null,"version":null,"expires":null,"ends_at":null} | running
            a window that ends before it begins | {"state":"running","windows":[{"from":"2027-03-01T00:00:00Z","until":"2027-03-01T00:00:00Z"}]} | key 'windows[0].until' must be later than 'from'
            a window without an end | {"state":"running","windows":[{"from":"2027-03-01T00:00:00Z"}]} | key 'windows[0].until' is missing
            a window of a wrong type | {"state":"running","windows":["now"]} | key 'windows[0]' is a string, not an object
            windows of a wrong type | {"state":"running","windows":{}} | key 'windows' is an object, not an array or null
            a version that is none | {"state":"running","version":"7"} | key 'version' is a string, not a whole number
            a fraction of a version | {"state":"running","version":7.5} | key 'version' is the number '7.5', not a whole number
            an end in minutes | {"state":"running","ends_at":"2030-12-31T23:59"} | key 'ends_at' is '2030-12-31T23:59', not an RFC 3339 time
            an end in minutes with an offset | {"state":"countdown","ends_at":"2030-12-31T23:59Z"} | key 'ends_at' is '2030-12-31T23:59Z', not an RFC 3339 time
            an end in minutes beside an order | {"state":"ended","ends_at":"2030-12-31T23:59"} | ended (key 'ends_at' is '2030-12-31T23:59', not an RFC 3339 time; it counts as absent: '"2030-12-31T23:59"')
            an end that is no time beside an order | {"state":"ended","ends_at":"2027-03-01"} | ended (key 'ends_at' is '2027-03-01', not an RFC 3339 time; it counts as absent: '"2027-03-01"')
            an end of a wrong type beside maintenance | {"state":"maintenance","ends_at":5} | maintenance (key 'ends_at' is a number, not an RFC 3339 time; it counts as absent: '5')
            a minimum of a wrong type beside an order | {"state":"ended","minimum_version":2} | ended (key 'minimum_version' is a number, not a string or null; it counts as absent: '2')
            an unset end of Go | {"state":"running","ends_at":"0001-01-01T00:00:00Z"} | running (key 'ends_at' is a time before 2000, which is no date; it counts as absent: '"0001-01-01T00:00:00Z"')
            an unset end of Unix | {"state":"running","ends_at":"1970-01-01T00:00:00Z","expires":"1970-01-01T00:00:00Z"} | running (key 'ends_at' is a time before 2000, which is no date; it counts as absent: '"1970-01-01T00:00:00Z"') (key 'expires' is a time before 2000, which is no date; it counts as absent: '"1970-01-01T00:00:00Z"')
            a window for ever | {"state":"running","windows":[{"from":"0001-01-01T00:00:00Z","until":"9999-12-31T00:00:00Z"}]} | key 'windows[0].from' is missing
            an end with a slip in its key | {"state":"running","end_at":"2027-03-01T00:00:00Z","windws":[]} | running (key 'end_at' is unknown and ignored; did you mean 'ends_at'?) (key 'windws' is unknown and ignored; did you mean 'windows'?)
            another member is nobody's mistake | {"state":"running","comment":"C","$schema":"S","x-state":"T"} | running
            a drain that is no Boolean | {"state":"ended","drain":"later"} | ended (key 'drain' is 'later', not a Boolean; it counts as false, and units stop at once: '"later"')
            a minimum of nothing | {"state":"running","minimum_version":" "} | key 'minimum_version' is ' ', not a version
            """#)
        + Case.rows(
            .switchObject(.member("shop")),
            #"""
            a state word alone | {"shop":"maintenance"} | maintenance
            a state word as JSON in a string | {"shop":"\"ended\""} | ended
            nobody orders not to know by a word | {"shop":"undecided"} | key 'shop' holds no valid JSON: …
            a word that is none | {"shop":"OK"} | key 'shop' holds no valid JSON: …
            """#)
        + Case.rows(
            .switchObject(.member("shop")),
            #"""
            a member | {"shop":"{\"state\":\"ended\"}"} | ended
            """#)
}
