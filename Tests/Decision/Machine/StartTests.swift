import CivilTime
import Decision
import Support
import Testing

/// Stored flags at a start: after a restart, and after a reboot.
@Suite struct StoredFlagsTests {
    /// The memory of a run two hours ago in that boot: flags and state.
    private func left(
        _ word: String = "no", _ state: State = .running, boot: String
    ) throws -> Memory {
        try Memory.stored(
            #"{"service_end": "\#(word)"}"#, fetchedAt: "2027-03-01T10:00:00Z", state: state,
            boot: boot)
    }

    @Test func storedFlagsDecideAtOnceAfterARestart() throws {
        var play = try Transcript([try service()], memory: try left(boot: "this-boot")).started()
        play.at(1, .fetchEnded("app", .unchanged))
        play.expect(
            #"""
            0s started
                publish shop running open stored-flags #7 until 2027-03-02T00:01:00+00:00
                log notice: shop: running: source 'app' has not answered since the start; set by its stored flags
                fetch app
            1s app unchanged (confirmed)
                publish shop running open flags #7 until 2027-03-02T00:01:00+00:00
                log notice: shop: running: set by the flags of source 'app'
            """#)
    }

    @Test func storedFlagsThatCloseDecideAtOnceAfterAReboot() throws {
        let memory = try left("closed", .ended, boot: "another-boot")
        let play = try Transcript([try service()], memory: memory).started()
        play.expect(
            #"""
            0s started
                remember and publish shop ended closed stored-flags #7 until 2027-03-02T00:01:00+00:00
                log notice: shop: ended: source 'app' has not answered since the start; set by its stored flags
                fetch app
            """#)
    }

    /// Otherwise units might be started and stopped again by the first answer.
    @Test func storedFlagsThatOpenWaitForTheFirstAnswerAfterAReboot() throws {
        var play = try Transcript([try service()], memory: try left(boot: "another-boot")).started()
        play.at(2, .fetchEnded("app", .unchanged))
        play.expect(
            #"""
            0s started
                remember and publish shop undecided - awaiting-first-answer #8 until 2027-03-02T00:01:00+00:00
                log notice: shop: undecided (was running): the stored flags would open the gate after this reboot; waiting for source 'app' to answer first
                fetch app
            2s app unchanged (confirmed)
                remember and publish shop running open flags #9 until 2027-03-02T00:01:00+00:00
                log notice: shop: running (was undecided): set by the flags of source 'app'
            """#)
    }

    @Test func storedFlagsThatOpenCountWhenTheFirstAnswerDoesNotCome() throws {
        let memory = try left(boot: "another-boot")
        var play = try Transcript([try service()], memory: memory, showsSleep: true).started()
        play.at(1, .fetchEnded("app", .failure(Failure(.unreachable, "no route"))))
        play.at(30, .woke)
        play.expect(
            #"""
            0s started
                remember and publish shop undecided - awaiting-first-answer #8 until 2027-03-02T00:01:00+00:00
                log notice: shop: undecided (was running): the stored flags would open the gate after this reboot; waiting for source 'app' to answer first
                fetch app
                sleep 30s wall 2027-03-02T00:00:00+00:00
            1s app fails: no route
                log warning: source 'app': no route; the last good flags stay in force, retrying in 783 ms
                sleep 0s wall 2027-03-02T00:00:00+00:00
            30s woke
                remember and publish shop running open stored-flags #9 until 2027-03-02T00:01:00+00:00
                log notice: shop: running (was undecided): source 'app' has not answered since the start; set by its stored flags
                fetch app
                sleep wall 2027-03-02T00:00:00+00:00
            """#)
    }

    /// A restart reverts no decision while it waits for a switch that has no flags.
    @Test func aDecisionOfThisBootStandsWhileASwitchIsWaitedFor() throws {
        let memory = try left("no", .maintenance, boot: "this-boot")
        let policy = Policy(whenUnknown: .closed)
        var play = try Transcript(
            [try service(policy: policy, sources: ["app", "other"])], memory: memory
        ).started()
        play.at(0.1, .fetchEnded("app", .unchanged))
        play.at(30, .woke)
        play.expect(
            #"""
            0s started
                publish shop maintenance closed starting #7 until 2027-03-02T00:01:00+00:00
                log notice: shop: maintenance: waiting for the first answer since the start
                fetch app
                fetch other
            0.1s app unchanged (confirmed)
            30s woke
                publish shop maintenance closed unknown-closed #7 until 2027-03-02T00:01:00+00:00
                log warning: shop: maintenance: source 'other' has never given valid flags; when_unknown closes the gate
            """#)
    }
}

/// A service before its sources have answered, without stored flags.
@Suite struct StartTests {
    @Test func theFirstAnswerDecides() throws {
        var play = try Transcript([try service()]).started()
        try play.at(0.25, "app", answers: #"{"service_end": "no"}"#)
        play.expect(
            #"""
            0s started
                remember and publish shop undecided - starting #1 until 2027-03-02T00:01:00+00:00
                log notice: shop: undecided: waiting for the first answer since the start
                fetch app
            0.25s app answers {"service_end": "no"} (stored, confirmed)
                remember and publish shop running open flags #2 until 2027-03-02T00:01:00+00:00
                log notice: shop: running (was undecided): set by the flags of source 'app'
            """#)
    }

    @Test func aSwitchThatWasNeverHeardOfOpensAfterFirstTimeout() throws {
        var play = try Transcript([try service()]).waiting()
        play.at(0.5, .fetchEnded("app", .failure(Failure(.unreachable, "no route"))))
        play.at(29.9, .woke)
        play.at(30, .woke)
        try play.at(40, "app", answers: #"{"service_end": "over"}"#)
        play.expect(
            #"""
            0.5s app fails: no route
                log warning: source 'app': no route; no valid flags are known yet, retrying in 783 ms
            29.9s woke
                fetch app
            30s woke
                remember and publish shop running open unknown-open #2 until 2027-03-02T00:01:00+00:00
                log warning: shop: running (was undecided): source 'app' has never given valid flags; when_unknown opens the gate
            40s app answers {"service_end": "over"} (stored, confirmed)
                remember and publish shop ended closed flags #3 until 2027-03-02T00:01:00+00:00
                log info: source 'app' answers again
                log notice: shop: ended (was running): set by the flags of source 'app'
            """#)
    }

    @Test func aSwitchThatWasNeverHeardOfClosesWhereThePolicySaysSo() throws {
        let policy = Policy(whenUnknown: .closed, firstTimeout: .seconds(5))
        var play = try Transcript([try service(policy: policy)]).waiting()
        play.at(5, .woke)
        play.expect(
            #"""
            5s woke
                remember and publish shop maintenance closed unknown-closed #2 until 2027-03-02T00:01:00+00:00
                log warning: shop: maintenance (was undecided): source 'app' has never given valid flags; when_unknown closes the gate
            """#)
    }

    @Test func whenNobodyWaitsAnyLongerThePolicyDecidesAtOnce() throws {
        var play = try Transcript([try service()]).waiting()
        play.at(0.1, .startupWaitEnded)
        play.expect(
            #"""
            0.1s patience ended
                remember and publish shop running open unknown-open #2 until 2027-03-02T00:01:00+00:00
                log warning: shop: running (was undecided): source 'app' has never given valid flags; when_unknown opens the gate
            """#)
    }

    @Test func anInvalidFirstAnswerIsNotWaitedForLongerThanNone() throws {
        var play = try Transcript([try service()]).waiting().receiving("{}", at: 0.1)
        play.at(30, .woke)
        play.expect(
            #"""
            0.1s app answers {}
                log warning: shop: the last answer of source 'app' is invalid: key 'service_end' is missing; no valid flags are known yet
            30s woke
                remember and publish shop running open unknown-open #2 until 2027-03-02T00:01:00+00:00
                log warning: shop: running (was undecided): source 'app' has never given valid flags; when_unknown opens the gate
            """#)
    }

    @Test func aSwitchThatClosesDoesNotWaitForTheOther() throws {
        var play = try Transcript([try service(sources: ["app", "other"])]).waiting()
        try play.at(0.1, "app", answers: #"{"service_end": "no"}"#)
        try play.at(0.2, "other", answers: #"{"service_end": "over"}"#)
        play.expect(
            #"""
            0.1s app answers {"service_end": "no"} (stored, confirmed)
            0.2s other answers {"service_end": "over"} (stored, confirmed)
                remember and publish shop ended closed flags #2 until 2027-03-02T00:01:00+00:00
                log notice: shop: ended (was undecided): set by the flags of source 'other'
            """#)
    }
}
