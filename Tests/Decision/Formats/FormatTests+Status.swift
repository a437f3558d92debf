import Decision

/// The format `status`: two Booleans, an interval and a message.
extension FormatTests {
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
            an interval that is no whole number | {"apiInactive":false,"forceUpdate":false,"retryInterval":1.5} | key 'retryInterval' is the number '1.5', not a whole number of seconds
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
}
