import Decision

/// The format `switch`: a state, windows, versions and expiry.
extension FormatTests {
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
            a title that is too long | {"state":"maintenance","title":"\#(text(201))"} | key 'title' has 201 characters, and at most 200 are read
            a message that is too long | {"state":"maintenance","message":"\#(text(4001))"} | key 'message' has 4001 characters, and at most 4000 are read
            """#)
        + Case.rows(
            .status(.whole),
            #"""
            a message of the format status | {"apiInactive":false,"forceUpdate":false,"userMessage":"\#(text(4001))"} | key 'userMessage' has 4001 characters, and at most 4000 are read
            """#)
        + Case.rows(
            .maintenance(.whole),
            #"""
            a title of the format maintenance | {"isUnderMaintenance":false,"title":"\#(text(201))"} | key 'title' has 201 characters, and at most 200 are read
            """#)
        + Case.rows(
            own,
            #"""
            a title of a window | {"state":"running","windows":[{"from":"2027-03-01T00:00:00Z","until":"2027-03-01T01:00:00Z","title":"\#(text(201))"}]} | key 'windows[0].title' has 201 characters, and at most 200 are read
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
            a minimum of nothing | {"state":"running","minimum_version":" "} | key 'minimum_version' is ' ', not a version
            """#)
        + Case.rows(
            .switchObject(.member("shop")),
            #"""
            a member | {"shop":"{\"state\":\"ended\"}"} | ended
            """#)
}
