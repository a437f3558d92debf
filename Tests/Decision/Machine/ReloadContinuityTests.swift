import CivilTime
import Decision
import Testing

/// What continues over a reload: waits, ages, staged flags, overrides.
@Suite struct ReloadContinuityTests {
    private static let running = #"{"service_end": "no"}"#

    /// After a reboot flags that open wait for their source. A reload does not end that wait.
    @Test func aReloadDoesNotEndTheWaitAfterAReboot() throws {
        let memory = try Memory.stored(
            Self.running, fetchedAt: "2027-03-01T11:00:00Z", state: .running, boot: "another-boot")
        var play = try Transcript([try service()], memory: memory).started()
        #expect(try play.states(at: 1, .reconfigured(Plan([service()]))) == [.undecided])
        #expect(play.states(at: 29) == [.undecided])
        #expect(play.states(at: 30) == [.running])
    }

    /// A new switch has its own wait. That wait must not make stale flags of another switch count again,
    /// so that the gate would open for half a minute.
    @Test func anotherSwitchDoesNotMakeOldFlagsYoung() throws {
        let policy = Policy(maxStale: .seconds(600), whenStale: .closed, minClosed: .zero)
        let memory = try Memory.stored(
            Self.running, fetchedAt: "2027-03-01T11:00:00Z", state: .running, boot: "this-boot")
        var play = try Transcript([try service(policy: policy)], memory: memory).started()
        #expect(play.states(at: 30) == [.maintenance])
        let both = try service(policy: policy, sources: ["app", "other"])
        play.at(40, .reconfigured(Plan([both])))
        #expect(try play.states(at: 41, "other", answers: Self.running) == [.maintenance])
    }

    private func nextStart(_ sources: [String] = ["app"], format: Format = .serviceEnd) throws
        -> Service
    {
        var shop = try service(format: format, sources: sources)
        shop.activation = .nextStart
        return shop
    }

    @Test func stagedFlagsStayStagedOverAReload() throws {
        var play = try Transcript([try nextStart()]).answered(Self.running, at: 1)
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
        shop.values = [
            RemoteValue(
                name: try named("limit"), source: try named("app"), key: "limit", type: .integer)
        ]
        var play = try Transcript([shop]).started()
        try play.at(1, "app", answers: #"{"service_end": "no", "limit": 1}"#)
        try play.at(2, "app", answers: #"{"service_end": "no", "limit": 2}"#)
        play.forget()
        var renamed = shop
        renamed.policy.minClosed = .seconds(60)
        renamed.zone = try zone("Asia/Tokyo")
        play.at(3, .reconfigured(Plan([renamed])))
        play.at(4, .activate(nil))
        play.expect(
            withoutFetches: true,
            #"""
            3s reconfigured
                publish shop running open flags values={"limit":1} #2 until 2027-03-01T15:01:00+00:00
            4s activate all
                publish shop running open flags values={"limit":2} #2 until 2027-03-01T15:01:00+00:00
            """#)
    }

    /// The new configuration asks for that.
    @Test func stagedFlagsTakeEffectWhenAReloadMakesActivationImmediate() throws {
        var play = try Transcript([try nextStart()]).answered(Self.running, at: 1)
        try play.at(2, "app", answers: #"{"service_end": "over"}"#)
        #expect(try play.states(at: 3, .reconfigured(Plan([service()]))) == [.ended])
    }

    @Test func anOverrideStandsOverAReloadAndOverItsServiceBeingAway() throws {
        let shop: ServiceName = try named("shop")
        var play = try Transcript([try service()]).answered(Self.running, at: 1)
        let override = try Override.order(.maintenance)
        play.at(2, .force(shop, override))
        play.at(3, .reconfigured(Plan([try service("web")])))
        #expect(try play.states(at: 4, .reconfigured(Plan([service()]))) == [.maintenance])
        #expect(play.states(at: 3601) == [.running])
    }
}
