import CivilTime
import Decision
import Testing

/// A reload with another plan.
@Suite struct ReloadTests {
    private static let running = #"{"service_end": "no"}"#

    @Test func theSamePlanChangesNothing() throws {
        var play = try Transcript([try service()]).answered(Self.running, at: 1)
        #expect(play.at(2, .reconfigured(Plan([try service()]))) == [])
    }

    @Test func newSourcesAreFetchedAndRemovedServicesAreWithdrawn() throws {
        var play = try Transcript([try service()]).answered(Self.running, at: 1)
        let web = try service("web", sources: ["other"])
        let effects = play.at(2, .reconfigured(Plan([web])))
        #expect(effects.contains(.withdraw(try named("shop"))))
        #expect(effects.contains(.stopSource(try named("app"))))
        #expect(effects.contains(.fetch(try named("other"), Validators())))
        #expect(play.machine.isProgressing(at: play.now))
    }

    @Test func aShorterIntervalCountsAtOnce() throws {
        var play = try Transcript([try service()], interval: .seconds(3600))
            .answered(Self.running, at: 1)
        play.at(2, .reconfigured(Plan([try service()], interval: .seconds(10))))
        let fetch = Effect.fetch(try named("app"), Validators())
        #expect(play.at(12.1, .woke).contains(fetch))
    }

    @Test func aServiceWithAnotherSwitchKeepsItsStateUntilThatIsHeard() throws {
        var play = try Transcript([try service()]).answered(Self.running, at: 1)
        let both = try service(sources: ["app", "other"])
        let effects = play.at(100, .reconfigured(Plan([both])))
        #expect(effects.contains(.fetch(try named("other"), Validators())))
        #expect(play.states == [.running])
        #expect(try play.states(at: 101, "other", answers: #"{"service_end": "over"}"#) == [.ended])
    }

    /// The answer that the source gave before counts for the new service too, which would otherwise be
    /// undecided until the next poll.
    @Test func aNewServiceOnAKnownSourceIsDecidedAtOnce() throws {
        var play = try Transcript([try service()], interval: .seconds(3600))
            .answered(Self.running, at: 1)
        let both = Plan([try service(), try service("web")], interval: .seconds(3600))
        #expect(play.states(at: 2, .reconfigured(both)) == [.running, .running])
    }

    @Test func anotherFormatThatCannotReadTheAnswerHasTheSourceAskedAtOnce() throws {
        var play = try Transcript([try service()], interval: .seconds(3600))
            .answered(Self.running, at: 1)
        let other = try service(format: .status(.whole))
        let effects = play.at(2, .reconfigured(Plan([other], interval: .seconds(3600))))
        #expect(effects.contains(.fetch(try named("app"), Validators())))
        #expect(play.states == [.running])
    }

    @Test func aNewSwitchThatIsNeverHeardIsUnknownAfterFirstTimeout() throws {
        var play = try Transcript([try service()]).answered(Self.running, at: 1)
        var both = try service(sources: ["app", "other"])
        both.policy.whenUnknown = .closed
        play.at(100, .reconfigured(Plan([both])))
        #expect(play.states(at: 129) == [.running])
        #expect(play.states(at: 130) == [.maintenance])
    }

    /// One service is removed with its source and its files, one is added, and one stays untouched.
    @Test func servicesComeAndGoAndTheOthersAreLeftAlone() throws {
        let (shop, old, new) = (
            try service(), try service("old", sources: ["past"]),
            try service("new", sources: ["next"])
        )
        var play = try Transcript([shop, old]).started()
        try play.at(1, "app", answers: Self.running)
        try play.at(1, "past", answers: Self.running)
        play.forget()
        play.at(10, .reconfigured(Plan([shop, new])))
        try play.at(11, "past", answers: #"{"service_end": "over"}"#)
        try play.at(12, "next", answers: #"{"service_end": "over"}"#)
        play.at(20, .reconfigured(Plan([shop, old])))
        play.expect(
            #"""
            10s reconfigured
                remember new=undecided#1 old=running#2 shop=running#2
                publish new undecided - starting #1 until 2027-03-02T00:01:00+00:00
                withdraw old
                drop past
                log notice: new: undecided: waiting for the first answer since the start
                fetch next
            11s past answers {"service_end": "over"}
            12s next answers {"service_end": "over"} (stored, confirmed)
                remember new=ended#2 old=running#2 shop=running#2
                publish new ended closed flags #2 until 2027-03-02T00:01:00+00:00
                log notice: new: ended (was undecided): set by the flags of source 'next'
            20s reconfigured
                publish old running open starting #2 until 2027-03-02T00:01:00+00:00
                withdraw new
                drop next
                log notice: old: running: waiting for the first answer since the start
                fetch past
            """#)
    }

    /// The new policy takes effect at once, and nothing else changes.
    @Test func anotherPolicyCountsAtOnce() throws {
        var play = try Transcript([try service(format: .status(.whole))])
            .answered(#"{"apiInactive": false, "forceUpdate": true}"#, at: 1)
        var lenient = try service(format: .status(.whole))
        lenient.policy.updateRequired = .open
        lenient.policy.minClosed = .zero
        play.at(20, .reconfigured(Plan([lenient])))
        play.expect(
            #"""
            20s reconfigured
                publish shop update-required open flags #2 until 2027-03-02T00:01:00+00:00
            """#)
    }
}
