import CivilTime
import Decision
import Testing

/// What flags are worth that have not been confirmed for longer than `max_stale`.
@Suite struct StaleTests {
    @Test func staleFlagsAreHeldAndSaySo() throws {
        let policy = Policy(maxStale: .seconds(600))
        var play = try Transcript([try service(policy: policy)])
        play.at(0, .started)
        try play.at(0, "app", answers: #"{"service_end": "no"}"#)
        play.at(599, .woke)
        play.at(600, .woke)
        play.at(700, .fetched(try named("app"), .unchanged))
        #expect(
            play.text == #"""
                0s started
                    remember shop=undecided#1
                    publish shop undecided - starting #1 until 2027-03-02T00:01:00+00:00
                    say notice: shop: undecided: no flags have come since the start, the first answer is waited for
                    fetch app
                0s app answers {"service_end": "no"}
                    store app: {"service_end": "no"}
                    remember shop=running#2
                    publish shop running open flags #2 until 2027-03-01T12:11:00+00:00
                    confirm app
                    say notice: shop: running (was undecided): the flags of source 'app' say so
                599s woke
                    fetch app
                600s woke
                    publish shop running open stale-hold stale #2 until 2027-03-02T00:01:00+00:00
                    say warning: shop: running: the flags of source 'app' are older than max_stale, and are held
                700s app unchanged
                    publish shop running open flags #2 until 2027-03-01T12:22:40+00:00
                    confirm app
                    say notice: shop: running: the flags of source 'app' say so

                """#)
    }

    @Test func staleFlagsCloseWhereThePolicySaysSo() throws {
        let policy = Policy(maxStale: .seconds(600), whenStale: .closed)
        var play = try Transcript([try service(policy: policy)])
        play.at(0, .started)
        try play.at(0, "app", answers: #"{"service_end": "no"}"#)
        play.at(600, .woke)
        try play.at(700, "app", answers: #"{"service_end": "no"}"#)
        #expect(
            play.text == #"""
                0s started
                    remember shop=undecided#1
                    publish shop undecided - starting #1 until 2027-03-02T00:01:00+00:00
                    say notice: shop: undecided: no flags have come since the start, the first answer is waited for
                    fetch app
                0s app answers {"service_end": "no"}
                    store app: {"service_end": "no"}
                    remember shop=running#2
                    publish shop running open flags #2 until 2027-03-01T12:11:00+00:00
                    confirm app
                    say notice: shop: running (was undecided): the flags of source 'app' say so
                600s woke
                    remember shop=maintenance#3
                    publish shop maintenance closed stale-closed stale #3 until 2027-03-02T00:01:00+00:00
                    say warning: shop: maintenance (was running): the flags of source 'app' are older than max_stale, when_stale closes the gate
                    fetch app
                700s app answers {"service_end": "no"}
                    remember shop=running#4
                    publish shop running open flags #4 until 2027-03-01T12:22:40+00:00
                    confirm app
                    say notice: shop: running (was maintenance): the flags of source 'app' say so

                """#)
    }

    @Test func staleFlagsOpenWhereThePolicySaysSo() throws {
        let policy = Policy(maxStale: .seconds(600), whenStale: .open)
        var play = try Transcript([try service(format: .maintenance(.whole), policy: policy)])
        play.at(0, .started)
        try play.at(
            0, "app",
            answers: #"{"isUnderMaintenance": true, "title": "Closed", "message": "Soon"}"#)
        play.at(600, .woke)
        #expect(
            play.text == #"""
                0s started
                    remember shop=undecided#1
                    publish shop undecided - starting #1 until 2027-03-02T00:01:00+00:00
                    say notice: shop: undecided: no flags have come since the start, the first answer is waited for
                    fetch app
                0s app answers {"isUnderMaintenance": true, "title": "Closed", "message": "Soon"}
                    store app: {"isUnderMaintenance": true, "title": "Closed", "message": "Soon"}
                    remember shop=maintenance#2
                    publish shop maintenance closed flags title=Closed message=Soon #2 until 2027-03-01T12:11:00+00:00
                    confirm app
                    say notice: shop: maintenance (was undecided): the flags of source 'app' say so
                600s woke
                    remember shop=running#3
                    publish shop running open stale-open stale #3 until 2027-03-02T00:01:00+00:00
                    say warning: shop: running (was maintenance): the flags of source 'app' are older than max_stale, when_stale opens the gate
                    fetch app

                """#)
    }

    @Test func anAcceptedEndOutranksThePolicyForStaleFlags() throws {
        let policy = Policy(maxStale: .seconds(600), whenStale: .open)
        var play = try Transcript([try service(policy: policy)])
        play.at(0, .started)
        try play.at(
            0, "app",
            answers: #"{"service_end": "countdown", "service_countdown": "2027-03-01T12:20:00Z"}"#)
        play.at(600, .woke)
        play.at(1200, .woke)
        #expect(
            play.text == #"""
                0s started
                    remember shop=undecided#1
                    publish shop undecided - starting #1 until 2027-03-02T00:01:00+00:00
                    say notice: shop: undecided: no flags have come since the start, the first answer is waited for
                    fetch app
                0s app answers {"service_end": "countdown", "service_countdown": "2027-03-01T12:20:00Z"}
                    store app: {"service_end": "countdown", "service_countdown": "2027-03-01T12:20:00Z"}
                    remember shop=countdown#2
                    publish shop countdown open flags days=0 #2 until 2027-03-01T12:11:00+00:00
                    confirm app
                    say notice: shop: countdown (was undecided), 0 days left: the flags of source 'app' say so
                600s woke
                    publish shop countdown open stale-open days=0 stale #2 until 2027-03-01T12:21:00+00:00
                    say warning: shop: countdown, 0 days left: the flags of source 'app' are older than max_stale, when_stale opens the gate
                    fetch app
                1200s woke
                    remember shop=ended#3
                    publish shop ended closed end-passed days=0 stale #3 until 2027-03-02T00:01:00+00:00
                    say notice: shop: ended (was countdown): the end that source 'app' announced has passed

                """#)
    }

    /// `valid_until` moves with every confirmation, but is written only when the old one comes near.
    @Test func aPollThatConfirmsWritesNothingUntilTheOldLimit() throws {
        let policy = Policy(maxStale: .seconds(600))
        var play = try Transcript([try service(policy: policy)])
        play.at(0, .started)
        try play.at(0, "app", answers: #"{"service_end": "no"}"#)
        play.at(60, .fetched(try named("app"), .unchanged))
        try play.at(590, "app", answers: #"{"service_end": "no"}"#)
        play.at(600, .woke)
        #expect(
            play.text == #"""
                0s started
                    remember shop=undecided#1
                    publish shop undecided - starting #1 until 2027-03-02T00:01:00+00:00
                    say notice: shop: undecided: no flags have come since the start, the first answer is waited for
                    fetch app
                0s app answers {"service_end": "no"}
                    store app: {"service_end": "no"}
                    remember shop=running#2
                    publish shop running open flags #2 until 2027-03-01T12:11:00+00:00
                    confirm app
                    say notice: shop: running (was undecided): the flags of source 'app' say so
                60s app unchanged
                    confirm app
                590s app answers {"service_end": "no"}
                    confirm app
                600s woke
                    publish shop running open flags #2 until 2027-03-01T12:20:50+00:00

                """#)
    }

    @Test func theAgeOfStoredFlagsCountsFromTheirLastConfirmation() throws {
        var memory = try Memory.stored(
            #"{"service_end": "no"}"#, fetchedAt: "2027-02-01T10:00:00Z", state: .running,
            boot: "this-boot")
        memory.flags[try named("app")]?.confirmedAt = try Instant(rfc3339: "2027-03-01T11:59:00Z")
        let policy = Policy(maxStale: .seconds(600), whenStale: .closed)
        var play = try Transcript([try service(policy: policy)], memory: memory)
        play.at(0, .started)
        play.at(539, .woke)
        play.at(540, .woke)
        #expect(
            play.text == #"""
                0s started
                    publish shop running open stored-flags #7 until 2027-03-01T12:10:00+00:00
                    say notice: shop: running: the stored flags of source 'app' say so, it has not answered since the start
                    fetch app
                539s woke
                540s woke
                    remember shop=maintenance#8
                    publish shop maintenance closed stale-closed stale #8 until 2027-03-02T00:01:00+00:00
                    say warning: shop: maintenance (was running): the flags of source 'app' are older than max_stale, when_stale closes the gate

                """#)
    }
}
