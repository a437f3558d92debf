import CivilTime
import Decision
import JSON
import Testing

/// What flags say by each format, and what is no order at all.
@Suite struct FormatTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let format: Format
        let flags: String
        /// The reading as `FormatTests.line` writes it, or the error.
        let says: String

        init(_ name: String, _ format: Format, _ flags: String, _ says: String) {
            self.name = name
            self.format = format
            self.flags = flags
            self.says = says
        }

        var testDescription: String { name }
    }

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

    static let status: [Case] = [
        Case(
            "all is well", .status(.whole),
            #"{"apiInactive":false,"forceUpdate":false,"retryInterval":15,"userMessage":null}"#,
            "running retry=15"),
        Case(
            "inactive", .status(.whole),
            #"{"apiInactive":true,"forceUpdate":false,"retryInterval":15,"userMessage":null}"#,
            "maintenance retry=15"),
        Case(
            "an update", .status(.whole),
            #"{"apiInactive":false,"forceUpdate":true,"retryInterval":15,"userMessage":null}"#,
            "update-required retry=15"),
        Case(
            "an update wins", .status(.whole),
            #"{"apiInactive":true,"forceUpdate":true,"retryInterval":15,"userMessage":null}"#,
            "update-required maintenance retry=15"),
        Case(
            "a message", .status(.whole),
            #"{"apiInactive":true,"forceUpdate":false,"userMessage":"Back at 9"}"#,
            "maintenance message=Back at 9"),
        Case(
            "words for Booleans", .status(.whole), #"{"apiInactive":"Yes","forceUpdate":"OFF"}"#,
            "maintenance"),
        Case(
            "a word for no Boolean", .status(.whole),
            #"{"apiInactive":"ture","forceUpdate":"no"}"#,
            "key 'apiInactive' is 'ture', not a Boolean"),
        Case(
            "a number is no Boolean", .status(.whole), #"{"apiInactive":1,"forceUpdate":0}"#,
            "key 'apiInactive' is a number, not a Boolean"),
        Case(
            "without forceUpdate", .status(.whole), #"{"apiInactive":true}"#,
            "key 'forceUpdate' is missing"),
        Case(
            "an interval of nothing", .status(.whole),
            #"{"apiInactive":false,"forceUpdate":false,"retryInterval":null}"#, "running"),
        Case(
            "an interval too short", .status(.whole),
            #"{"apiInactive":false,"forceUpdate":false,"retryInterval":-5}"#, "running retry=1"),
        Case(
            "an interval too long", .status(.whole),
            #"{"apiInactive":false,"forceUpdate":false,"retryInterval":9000000000000000000}"#,
            "running retry=3600"),
        Case(
            "an interval that is no whole number", .status(.whole),
            #"{"apiInactive":false,"forceUpdate":false,"retryInterval":1.5}"#,
            "key 'retryInterval' is the number '1.5', not a whole number of seconds"),
        Case(
            "a member", .status(.member("api")),
            #"{"api":{"apiInactive":true,"forceUpdate":false}}"#, "maintenance"),
        Case(
            "a string that holds an object", .status(.member("api")),
            #"{"api":"{\"apiInactive\":true,\"forceUpdate\":false}"}"#, "maintenance"),
        Case(
            "a string that holds no JSON", .status(.member("api")), #"{"api":"<html>"}"#,
            "key 'api' holds no valid JSON: "),
        Case(
            "a string that holds no object", .status(.member("api")), #"{"api":"true"}"#,
            "key 'api' is a boolean in a string, not an object"),
        Case(
            "the member is missing", .status(.member("api")),
            #"{"apiInactive":true,"forceUpdate":false}"#, "key 'api' is missing"),
        Case(
            "the member is a list", .status(.member("api")), #"{"api":[]}"#,
            "key 'api' is an array, not an object"),
    ]

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

    private static let own = Format.switchObject(.whole)

    static let switchObject: [Case] = [
        Case("a state", own, #"{"state":"maintenance","title":"T"}"#, "maintenance title=T"),
        Case(
            "nobody orders not to know", own, #"{"state":"undecided"}"#,
            "key 'state' is 'undecided', not the word of a state"),
        Case(
            "an unknown word", own, #"{"state":"Running"}"#,
            "key 'state' is 'Running', not the word of a state"),
        Case("without a state", own, #"{"title":"T"}"#, "key 'state' is missing"),
        Case(
            "an end makes it count down", own,
            #"{"state":"running","ends_at":"2027-03-01T00:00:00Z"}"#,
            "running countdown to 2027-03-01T00:00:00+00:00"),
        Case(
            "a countdown", own, #"{"state":"countdown","ends_at":"2027-03-01T00:00:00Z"}"#,
            "countdown to 2027-03-01T00:00:00+00:00"),
        Case("a countdown to nobody knows when", own, #"{"state":"countdown"}"#, "countdown"),
        Case(
            "what has ended does not end again", own,
            #"{"state":"ended","ends_at":"2027-03-01T00:00:00Z"}"#, "ended"),
        Case(
            "an end that is no time", own, #"{"state":"running","ends_at":"2027-03-01"}"#,
            "key 'ends_at' is '2027-03-01', not an RFC 3339 time"),
        Case(
            "everything", own,
            #"{"state":"running","windows":[{"from":"2027-03-01T00:00:00Z","until":"2027-03-01T01:00:00Z"}],"minimum_version":"1.2","version":7,"expires":"2027-04-01T00:00:00Z","message":"M","retry_after":5}"#,
            "running window 2027-03-01T00:00:00+00:00/2027-03-01T01:00:00+00:00 minimum=1.2 message=M version=7 expires=2027-04-01T00:00:00+00:00 retry=5"
        ),
        Case(
            "nulls are left out", own,
            #"{"state":"running","windows":null,"minimum_version":null,"version":null,"expires":null,"ends_at":null}"#,
            "running"),
        Case(
            "a window that ends before it begins", own,
            #"{"state":"running","windows":[{"from":"2027-03-01T00:00:00Z","until":"2027-03-01T00:00:00Z"}]}"#,
            "key 'windows[0].until' is one before it, not a time after 'from'"),
        Case(
            "a window without an end", own,
            #"{"state":"running","windows":[{"from":"2027-03-01T00:00:00Z"}]}"#,
            "key 'windows[0].until' is missing"),
        Case(
            "a window of a wrong type", own, #"{"state":"running","windows":["now"]}"#,
            "key 'windows[0]' is a string, not an object"),
        Case(
            "windows of a wrong type", own, #"{"state":"running","windows":{}}"#,
            "key 'windows' is an object, not an array or null"),
        Case(
            "a version that is none", own, #"{"state":"running","version":"7"}"#,
            "key 'version' is a string, not a whole number"),
        Case(
            "a fraction of a version", own, #"{"state":"running","version":7.5}"#,
            "key 'version' is the number '7.5', not a whole number"),
        Case(
            "a minimum of nothing", own, #"{"state":"running","minimum_version":" "}"#,
            "key 'minimum_version' is ' ', not a version"),
        Case(
            "a member", .switchObject(.member("shop")), #"{"shop":"{\"state\":\"ended\"}"}"#,
            "ended"),
    ]

    @Test(arguments: serviceEnd + status + maintenance + switchObject)
    func flagsSay(_ row: Case) throws {
        let flags = try FlagDocument.parse(Array(row.flags.utf8))
        let said: String
        do {
            said = Self.line(try row.format.read(flags, in: try zone("Asia/Tokyo")))
        } catch let error as InvalidFlag {
            said = "\(error)"
        }
        if row.says.hasSuffix(": ") {
            #expect(said.hasPrefix(row.says) && said.count > row.says.count)
        } else {
            #expect(said == row.says)
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
            case .countdown(.untold): "countdown"
            case .window(let window):
                "window \(Zone.utc.rfc3339(window.from))/\(Zone.utc.rfc3339(window.until))"
            case .minimumVersion(let version): "minimum=\(version)"
            case .ended: "ended"
            }
        }
        if let title = reading.title { words.append("title=\(title)") }
        if let message = reading.message { words.append("message=\(message)") }
        if let version = reading.version { words.append("version=\(version)") }
        if let expires = reading.expires {
            words.append("expires=\(Zone.utc.rfc3339(expires))")
        }
        if let retry = reading.retryAfter { words.append("retry=\(retry.wholeSeconds)") }
        return words.joined(separator: " ")
    }
}
