import Decision

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
