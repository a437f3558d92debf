import Decision

/// The format `boolean`, and answers that are one value alone.
extension FormatTests {
    private static func flag(
        _ key: String?, closedWhen: Bool = true, _ state: ClosedState = .maintenance
    ) -> Format {
        .boolean(BooleanFlag(key: key, closedWhen: closedWhen, closedState: state))
    }

    static let boolean: [Case] =
        Case.rows(
            flag("off"),
            #"""
            the value that closes | {"off": true} | maintenance
            the other value | {"off": false} | running
            a word in any case of letters | {"off": "Yes"} | maintenance
            a word for false | {"off": "0"} | running
            a number is no Boolean | {"off": 1} | key 'off' is a number, not a Boolean
            zero is no Boolean | {"off": 0} | key 'off' is a number, not a Boolean
            null is missing | {"off": null} | key 'off' is missing
            nothing | {"on": true} | key 'off' is missing
            a word that is none | {"off": "maintenance"} | key 'off' is 'maintenance', not a Boolean
            the empty text | {"off": ""} | key 'off' is '', not a Boolean
            an object | {"off": {"value": true}} | key 'off' is an object, not a Boolean
            """#)
        + Case.rows(
            flag("enabled", closedWhen: false, .ended),
            #"""
            false closes | {"enabled": false} | ended
            true opens | {"enabled": true} | running
            """#)
        + Case.rows(
            flag(nil, .updateRequired),
            #"""
            true alone | true | update-required
            false alone | false | running
            a word alone | on | update-required
            a digit alone | 1 | update-required
            a word alone in quotes | "yes" | update-required
            an unknown word alone | OK | the answer is 'OK', not a Boolean
            an object in its place | {"off": true} | the answer is not one value alone, and the format has no 'key' of it
            the key of nothing | {"": true} | update-required
            """#)

    static let alone: [Case] =
        Case.rows(
            .switchObject(.whole),
            #"""
            a state word alone | maintenance | maintenance
            a state word alone in quotes | "ended" | ended
            a state word with a hyphen | update-required | update-required
            an object in quotes | "{\"state\":\"ended\",\"title\":\"T\"}" | ended title=T
            nobody orders not to know by a word | undecided | the answer is 'undecided', not a state; the states are running, countdown, maintenance, update-required and ended
            a word that is none | OK | the answer is 'OK', not a state; the states are running, countdown, maintenance, update-required and ended
            a word in other letters | "Ended" | the answer is 'Ended', not a state; the states are running, countdown, maintenance, update-required and ended
            a Boolean is no state | false | the answer is 'false', not a state; the states are running, countdown, maintenance, update-required and ended
            an object with a state is no word | {"state":"running","":"ended"} | running
            """#)
        + Case.rows(
            .serviceEnd,
            #"""
            a word for another format | no | key 'service_end' is missing
            """#)
        + Case.rows(
            .status(.whole),
            #"""
            a word for no object | maintenance | key 'apiInactive' is missing
            """#)
}
