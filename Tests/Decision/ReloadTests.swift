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

    private func states(_ play: Transcript) -> [State] {
        play.machine.overview(at: play.now).services.map(\.state)
    }

    /// The whole of it: one service goes with its source and its files, one comes with its own, one
    /// stays and is not touched.
    @Test func servicesComeAndGoAndTheOthersAreLeftAlone() throws {
        let (shop, old, new) = (
            try service(), try service("old", sources: ["past"]),
            try service("new", sources: ["next"])
        )
        var play = try Transcript(plan: try plan([shop, old]))
        play.at(0, .started)
        try play.at(1, "app", answers: Self.running)
        try play.at(1, "past", answers: Self.running)
        play.forget()
        play.at(10, .reconfigured(try plan([shop, new])))
        try play.at(11, "past", answers: #"{"service_end": "over"}"#)
        try play.at(12, "next", answers: #"{"service_end": "over"}"#)
        play.at(20, .reconfigured(try plan([shop, old])))
        #expect(
            play.text == #"""
                10s reconfigured
                    remember new=undecided#1 old=running#2 shop=running#2
                    publish new undecided - starting #1 until 2027-03-02T00:01:00+00:00
                    withdraw old
                    drop past
                    say notice: new: undecided: no flags have come since the start, the first answer is waited for
                    fetch next
                11s past answers {"service_end": "over"}
                12s next answers {"service_end": "over"}
                    store next: {"service_end": "over"}
                    remember new=ended#2 old=running#2 shop=running#2
                    publish new ended closed flags #2 until 2027-03-02T00:01:00+00:00
                    confirm next
                    say notice: new: ended (was undecided): the flags of source 'next' say so
                20s reconfigured
                    publish old running open starting #2 until 2027-03-02T00:01:00+00:00
                    withdraw new
                    drop next
                    say notice: old: running: no flags have come since the start, the first answer is waited for
                    fetch past

                """#)
    }

    /// After a reboot flags that open wait for their source. A reload is no reason to wait no longer.
    @Test func aReloadDoesNotEndTheWaitAfterAReboot() throws {
        let memory = try Memory.stored(
            Self.running, fetchedAt: "2027-03-01T11:00:00Z", state: .running, boot: "another-boot")
        var play = try Transcript([try service()], memory: memory)
        play.at(0, .started)
        play.at(1, .reconfigured(try plan([try service()])))
        #expect(states(play) == [.undecided])
        play.at(29, .woke)
        #expect(states(play) == [.undecided])
        play.at(30, .woke)
        #expect(states(play) == [.running])
    }

    /// The wait for a new switch is that switch's own: it must not give flags that are too old
    /// another half a minute, in which the gate would open and close again.
    @Test func anotherSwitchDoesNotMakeOldFlagsYoung() throws {
        let policy = Policy(maxStale: .seconds(600), whenStale: .closed, minClosed: .zero)
        let memory = try Memory.stored(
            Self.running, fetchedAt: "2027-03-01T11:00:00Z", state: .running, boot: "this-boot")
        var play = try Transcript([try service(policy: policy)], memory: memory)
        play.at(0, .started)
        play.at(30, .woke)
        #expect(states(play) == [.maintenance])
        let both = try service(policy: policy, sources: ["app", "other"])
        play.at(40, .reconfigured(try plan([both])))
        try play.at(41, "other", answers: Self.running)
        #expect(states(play) == [.maintenance])
    }

    private func nextStart(_ sources: [String] = ["app"], format: Format = .serviceEnd) throws
        -> Service
    {
        var shop = try service(format: format, sources: sources)
        shop.activation = .nextStart
        return shop
    }

    @Test func flagsThatWaitForTheNextStartWaitOverAReload() throws {
        var play = try Transcript([try nextStart()])
        play.at(0, .started)
        try play.at(1, "app", answers: Self.running)
        try play.at(2, "app", answers: #"{"service_end": "over"}"#)
        // A service is added, the policy is another, another zone, another switch: no start.
        let other = try service("web", sources: ["other"])
        play.at(3, .reconfigured(try plan([try nextStart(), other])))
        #expect(states(play).first == .running)
        var stricter = try nextStart()
        stricter.policy.whenUnknown = .closed
        play.at(4, .reconfigured(try plan([stricter, other])))
        #expect(states(play).first == .running)
        stricter.zone = try zone("Asia/Tokyo")
        play.at(5, .reconfigured(try plan([stricter, other])))
        #expect(states(play).first == .running)
        stricter.switches[0].format = .serviceEnd(
            endKeys: ["service_end"], countdownKey: "shop_closes_at")
        play.at(6, .reconfigured(try plan([stricter, other])))
        #expect(states(play).first == .running)
        play.at(7, .activate(stricter.name))
        #expect(states(play).first == .ended)
    }

    @Test func valuesThatWaitForTheNextStartWaitOverAReload() throws {
        var shop = try nextStart()
        shop.values = [
            RemoteValue(
                name: try named("limit"), source: try named("app"), key: "limit", type: .integer)
        ]
        var play = try Transcript([shop])
        play.at(0, .started)
        try play.at(1, "app", answers: #"{"service_end": "no", "limit": 1}"#)
        try play.at(2, "app", answers: #"{"service_end": "no", "limit": 2}"#)
        play.forget()
        var renamed = shop
        renamed.policy.minClosed = .seconds(60)
        renamed.zone = try zone("Asia/Tokyo")
        play.at(3, .reconfigured(try plan([renamed])))
        play.at(4, .activate(nil))
        #expect(
            play.textWithoutFetches == #"""
                3s reconfigured
                    publish shop running open flags values={"limit":1} #2 until 2027-03-01T15:01:00+00:00
                4s activate all
                    publish shop running open flags values={"limit":2} #2 until 2027-03-01T15:01:00+00:00

                """#)
    }

    /// That is what the configuration asks for then.
    @Test func whatWaitsTakesForceWhenAReloadMakesActivationImmediate() throws {
        var play = try Transcript([try nextStart()])
        play.at(0, .started)
        try play.at(1, "app", answers: Self.running)
        try play.at(2, "app", answers: #"{"service_end": "over"}"#)
        play.at(3, .reconfigured(try plan([try service()])))
        #expect(states(play) == [.ended])
    }

    @Test func anOverrideStandsOverAReloadAndOverItsServiceBeingAway() throws {
        let shop: ServiceName = try named("shop")
        var play = try Transcript([try service()])
        play.at(0, .started)
        try play.at(1, "app", answers: Self.running)
        let override = try #require(
            Override(
                state: .maintenance, cause: "disk", author: "root", since: play.now.wall,
                until: play.now.wall + .seconds(3600)))
        play.at(2, .override(shop, override))
        play.at(3, .reconfigured(try plan([try service("web")])))
        play.at(4, .reconfigured(try plan([try service()])))
        #expect(states(play) == [.maintenance])
        play.at(3601, .woke)
        #expect(states(play) == [.running])
    }

    /// What the new configuration asks for comes at once, and nothing else does.
    @Test func anotherPolicyCountsAtOnce() throws {
        var play = try Transcript([try service(format: .status(.whole))])
        play.at(0, .started)
        try play.at(1, "app", answers: #"{"apiInactive": false, "forceUpdate": true}"#)
        play.forget()
        var lenient = try service(format: .status(.whole))
        lenient.policy.updateRequired = .open
        lenient.policy.minClosed = .zero
        play.at(20, .reconfigured(try plan([lenient])))
        #expect(
            play.text == #"""
                20s reconfigured
                    publish shop update-required open flags #2 until 2027-03-02T00:01:00+00:00

                """#)
    }
}
