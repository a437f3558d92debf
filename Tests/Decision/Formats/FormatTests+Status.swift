import Decision

/// The format `status`: two Booleans, an interval and a message.
extension FormatTests {
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
}
