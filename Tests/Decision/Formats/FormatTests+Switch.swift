import Decision

/// The format `switch`: a state, windows, versions and expiry.
extension FormatTests {
    private static let own = Format.switchObject(.whole)

    private static func text(_ count: Int) -> String { String(repeating: "é", count: count) }

    private static func windows(_ count: Int) -> String {
        let window = #"{"from":"2027-03-01T00:00:00Z","until":"2027-03-01T01:00:00Z"}"#
        return Array(repeating: window, count: count).joined(separator: ",")
    }

    static let limits: [Case] = [
        Case(
            "the longest title", own, #"{"state":"maintenance","title":"\#(text(200))"}"#,
            "maintenance title=\(text(200))"),
        Case(
            "a title that is too long", own, #"{"state":"maintenance","title":"\#(text(201))"}"#,
            "key 'title' has 201 characters, and at most 200 are read"),
        Case(
            "a message that is too long", own,
            #"{"state":"maintenance","message":"\#(text(4001))"}"#,
            "key 'message' has 4001 characters, and at most 4000 are read"),
        Case(
            "a message of the format status", .status(.whole),
            #"{"apiInactive":false,"forceUpdate":false,"userMessage":"\#(text(4001))"}"#,
            "key 'userMessage' has 4001 characters, and at most 4000 are read"),
        Case(
            "a title of the format maintenance", .maintenance(.whole),
            #"{"isUnderMaintenance":false,"title":"\#(text(201))"}"#,
            "key 'title' has 201 characters, and at most 200 are read"),
        Case(
            "a title of a window", own,
            #"{"state":"running","windows":[{"from":"2027-03-01T00:00:00Z","until":"2027-03-01T01:00:00Z","title":"\#(text(201))"}]}"#,
            "key 'windows[0].title' has 201 characters, and at most 200 are read"),
        Case(
            "too many windows", own, #"{"state":"running","windows":[\#(windows(65))]}"#,
            "key 'windows' has 65 windows, and at most 64 are read"),
        Case(
            "a version that is too long", own,
            #"{"state":"running","minimum_version":"1.\#(String(repeating: "0", count: 255))"}"#,
            "key 'minimum_version' has 257 bytes, and at most 256 are read"),
    ]

    static let switchObject: [Case] = [
        Case("a state", own, #"{"state":"maintenance","title":"T"}"#, "maintenance title=T"),
        Case(
            "nobody orders not to know", own, #"{"state":"undecided"}"#,
            "key 'state' is 'undecided', not a state; the states are running, countdown, maintenance, update-required and ended"
        ),
        Case(
            "an unknown word", own, #"{"state":"Running"}"#,
            "key 'state' is 'Running', not a state; the states are running, countdown, maintenance, update-required and ended"
        ),
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
            "key 'windows[0].until' must be later than 'from'"),
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
}
