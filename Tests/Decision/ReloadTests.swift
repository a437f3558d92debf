import CivilTime
import Decision
import Testing

/// Another plan in the middle of the work.
@Suite struct ReloadTests {
    private static let running = #"{"service_end": "no"}"#

    private func plan(_ services: [Service], interval: Duration = .seconds(60)) throws -> Plan {
        let names = Set(services.flatMap(\.switches).map(\.source)).sorted { $0.text < $1.text }
        return Plan(
            sources: names.map { SourcePlan(name: $0, interval: interval) }, services: services)
    }

    @Test func theSamePlanChangesNothing() throws {
        var play = try Transcript([try service()])
        play.at(0, .started)
        try play.at(1, "app", answers: Self.running)
        #expect(play.at(2, .reconfigured(try plan([try service()]))) == [])
    }

    @Test func whatIsNewIsAskedAndWhatIsGoneIsWithdrawn() throws {
        var play = try Transcript([try service()])
        play.at(0, .started)
        try play.at(1, "app", answers: Self.running)
        let web = try service("web", sources: ["other"])
        let effects = play.at(2, .reconfigured(try plan([web])))
        #expect(effects.contains(.withdraw(try named("shop"))))
        #expect(effects.contains(.drop(try named("app"))))
        #expect(effects.contains(.fetch(try named("other"), Validators())))
        #expect(play.machine.isProgressing(at: play.now))
    }

    @Test func aShorterIntervalCountsAtOnce() throws {
        var play = try Transcript([try service()], interval: .seconds(3600))
        play.at(0, .started)
        try play.at(1, "app", answers: Self.running)
        play.at(2, .reconfigured(try plan([try service()], interval: .seconds(10))))
        let fetch = Effect.fetch(try named("app"), Validators())
        #expect(play.at(12.1, .woke).contains(fetch))
    }

    @Test func aServiceWithAnotherSwitchKeepsItsStateUntilThatIsHeard() throws {
        var play = try Transcript([try service()])
        play.at(0, .started)
        try play.at(1, "app", answers: Self.running)
        let both = try service(sources: ["app", "other"])
        let effects = play.at(100, .reconfigured(try plan([both])))
        #expect(effects.contains(.fetch(try named("other"), Validators())))
        #expect(play.machine.overview(at: play.now).services.map(\.state) == [.running])
        try play.at(101, "other", answers: #"{"service_end": "over"}"#)
        #expect(play.machine.overview(at: play.now).services.map(\.state) == [.ended])
    }

    /// The answer that the source gave for another service is good for the new one too: it would
    /// else be undecided until the next poll.
    @Test func aNewServiceOnAKnownSourceIsDecidedAtOnce() throws {
        var play = try Transcript([try service()], interval: .seconds(3600))
        play.at(0, .started)
        try play.at(1, "app", answers: Self.running)
        let both = try plan([try service(), try service("web")], interval: .seconds(3600))
        play.at(2, .reconfigured(both))
        #expect(play.machine.overview(at: play.now).services.map(\.state) == [.running, .running])
    }

    @Test func anotherFormatThatCannotReadTheAnswerHasTheSourceAskedAtOnce() throws {
        var play = try Transcript([try service()], interval: .seconds(3600))
        play.at(0, .started)
        try play.at(1, "app", answers: Self.running)
        let other = try service(format: .status(.whole))
        let effects = play.at(2, .reconfigured(try plan([other], interval: .seconds(3600))))
        #expect(effects.contains(.fetch(try named("app"), Validators())))
        #expect(play.machine.overview(at: play.now).services.map(\.state) == [.running])
    }

    @Test func aNewSwitchThatIsNeverHeardIsUnknownAfterFirstTimeout() throws {
        var play = try Transcript([try service()])
        play.at(0, .started)
        try play.at(1, "app", answers: Self.running)
        var both = try service(sources: ["app", "other"])
        both.policy.whenUnknown = .closed
        play.at(100, .reconfigured(try plan([both])))
        play.at(129, .woke)
        #expect(play.machine.overview(at: play.now).services.map(\.state) == [.running])
        play.at(130, .woke)
        #expect(play.machine.overview(at: play.now).services.map(\.state) == [.maintenance])
    }
}
