import CivilTime
import Decision
import Support
import Testing

@Suite struct ReloadTests {
    @Test func theSamePlanChangesNothing() throws {
        var play = try Transcript([try service()]).answered(ServiceEnd.no, at: 1)
        #expect(play.at(2, .reconfigured(Plan([try service()]))) == [])
    }

    @Test func newSourcesAreFetchedAndRemovedServicesAreWithdrawn() throws {
        var play = try Transcript([try service()]).answered(ServiceEnd.no, at: 1)
        let web = try service("web", sources: ["other"])
        let effects = play.at(2, .reconfigured(Plan([web])))
        #expect(effects.contains(.withdraw("shop")))
        #expect(effects.contains(.stopSource("app")))
        #expect(effects.contains(.fetch("other", Validators())))
        #expect(play.machine.isProgressing(at: play.now))
    }

    @Test func aShorterIntervalCountsAtOnce() throws {
        var play = try Transcript([try service()], interval: .seconds(3600))
            .answered(ServiceEnd.no, at: 1)
        play.at(2, .reconfigured(Plan([try service()], interval: .seconds(10))))
        let fetch = Effect.fetch("app", Validators())
        #expect(play.at(12.1, .woke).contains(fetch))
    }

    @Test func aServiceWithAnotherSwitchKeepsItsStateUntilThatIsHeard() throws {
        var play = try Transcript([try service()]).answered(ServiceEnd.no, at: 1)
        let both = try service(sources: ["app", "other"])
        let effects = play.at(100, .reconfigured(Plan([both])))
        #expect(effects.contains(.fetch("other", Validators())))
        #expect(play.states == [.running])
        #expect(try play.states(at: 101, "other", answers: #"{"service_end": "over"}"#) == [.ended])
    }

    /// The answer that the source gave before counts for the new service too, which would otherwise be
    /// undecided until the next poll.
    @Test func aNewServiceOnAKnownSourceIsDecidedAtOnce() throws {
        var play = try Transcript([try service()], interval: .seconds(3600))
            .answered(ServiceEnd.no, at: 1)
        let both = Plan([try service(), try service("web")], interval: .seconds(3600))
        #expect(play.states(at: 2, .reconfigured(both)) == [.running, .running])
    }

    @Test func anotherFormatThatCannotReadTheAnswerHasTheSourceAskedAtOnce() throws {
        var play = try Transcript([try service()], interval: .seconds(3600))
            .answered(ServiceEnd.no, at: 1)
        let other = try service(format: .status(.whole))
        let effects = play.at(2, .reconfigured(Plan([other], interval: .seconds(3600))))
        #expect(effects.contains(.fetch("app", Validators())))
        #expect(play.states == [.running])
    }

    @Test func aNewSwitchThatIsNeverHeardIsUnknownAfterFirstTimeout() throws {
        var play = try Transcript([try service()]).answered(ServiceEnd.no, at: 1)
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
        var play = try Transcript([shop, old]).started().receiving(ServiceEnd.no, at: 1)
        try play.at(1, "past", answers: ServiceEnd.no)
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

/// What continues over a reload: waits, ages, staged flags, overrides.
@Suite struct ReloadContinuityTests {
    /// After a reboot flags that open wait for their source. A reload does not end that wait.
    @Test func aReloadDoesNotEndTheWaitAfterAReboot() throws {
        let memory = try Memory.stored(ServiceEnd.no, state: .running, boot: "another-boot")
        var play = try Transcript([try service()], memory: memory).started()
        #expect(try play.states(at: 1, .reconfigured(Plan([service()]))) == [.undecided])
        #expect(play.states(at: 29) == [.undecided])
        #expect(play.states(at: 30) == [.running])
    }

    /// A new switch has its own wait. That wait must not make stale flags of another switch count again,
    /// so that the gate would open for half a minute.
    @Test func anotherSwitchDoesNotMakeOldFlagsYoung() throws {
        let policy = Policy(maxStale: .seconds(600), whenStale: .closed, minClosed: .zero)
        let memory = try Memory.stored(ServiceEnd.no, state: .running)
        var play = try Transcript([try service(policy: policy)], memory: memory).started()
        #expect(play.states(at: 30) == [.maintenance])
        let both = try service(policy: policy, sources: ["app", "other"])
        play.at(40, .reconfigured(Plan([both])))
        #expect(try play.states(at: 41, "other", answers: ServiceEnd.no) == [.maintenance])
    }

    private func nextStart(_ sources: [String] = ["app"], format: Format = .serviceEnd) throws
        -> Service
    {
        var shop = try service(format: format, sources: sources)
        shop.activation = .nextStart
        return shop
    }

    @Test func stagedFlagsStayStagedOverAReload() throws {
        var play = try Transcript([try nextStart()]).answered(ServiceEnd.no, at: 1)
        try play.at(2, "app", answers: #"{"service_end": "over"}"#)
        // A reload that adds a service, or changes policy, zone or switches, is no start.
        let other = try service("web", sources: ["other"])
        play.at(3, .reconfigured(Plan([try nextStart(), other])))
        #expect(play.states.first == .running)
        var stricter = try nextStart()
        stricter.policy.whenUnknown = .closed
        play.at(4, .reconfigured(Plan([stricter, other])))
        #expect(play.states.first == .running)
        stricter.zone = try zone("Asia/Tokyo")
        play.at(5, .reconfigured(Plan([stricter, other])))
        #expect(play.states.first == .running)
        stricter.switches[0].format = .serviceEnd(
            endKeys: ["service_end"], countdownKey: "shop_closes_at")
        play.at(6, .reconfigured(Plan([stricter, other])))
        #expect(play.states.first == .running)
        play.at(7, .activate(stricter.name))
        #expect(play.states.first == .ended)
    }

    @Test func stagedValuesStayStagedOverAReload() throws {
        var shop = try nextStart()
        shop.values = [RemoteValue(name: "limit", source: "app", key: "limit", type: .integer)]
        var play = try Transcript([shop]).started()
        try play.at(1, "app", answers: #"{"service_end": "no", "limit": 1}"#)
        try play.at(2, "app", answers: #"{"service_end": "no", "limit": 2}"#)
        play.forget()
        var renamed = shop
        renamed.policy.minClosed = .seconds(60)
        renamed.zone = try zone("Asia/Tokyo")
        play.at(3, .reconfigured(Plan([renamed])))
        play.at(4, .activate(nil))
        play.expectWithoutFetches(
            #"""
            3s reconfigured
                publish shop running open flags values={"limit":1} #2 until 2027-03-01T15:01:00+00:00
            4s activate all
                publish shop running open flags values={"limit":2} #2 until 2027-03-01T15:01:00+00:00
            """#)
    }

    /// The new configuration asks for that.
    @Test func stagedFlagsTakeEffectWhenAReloadMakesActivationImmediate() throws {
        var play = try Transcript([try nextStart()]).answered(ServiceEnd.no, at: 1)
        try play.at(2, "app", answers: #"{"service_end": "over"}"#)
        #expect(try play.states(at: 3, .reconfigured(Plan([service()]))) == [.ended])
    }

    @Test func anOverrideStandsOverAReloadAndOverItsServiceBeingAway() throws {
        var play = try Transcript([try service()]).answered(ServiceEnd.no, at: 1)
        let override = try Override.order(.maintenance)
        play.at(2, .force("shop", override))
        play.at(3, .reconfigured(Plan([try service("web")])))
        #expect(try play.states(at: 4, .reconfigured(Plan([service()]))) == [.maintenance])
        #expect(play.states(at: 3601) == [.running])
    }
}
