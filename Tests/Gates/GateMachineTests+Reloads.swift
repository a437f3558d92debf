import CivilTime
import Decision
import Gates
import Testing

/// What reloads of systemd cost.
extension GateMachineTests {
    /// Hundreds of units that are attached one by one are hundreds of reloads. Everything was read anew at
    /// each of them, and a closing waited for that.
    @Test func reloadsThatFollowEachOtherCostOneListing() throws {
        var gate = try GateTranscript.settled(units: ["web.service": UnitStatus(.active)])
        let listed: [UnitName: UnitStatus] = [try unit(.open): UnitStatus(.active)]
        let web = try unit("web.service")
        let open = UnitSnapshot(UnitStatus(.active), requisiteOf: [web], wants: [web])
        gate.at(1, .systemdReloaded)
        for moment in [1.1, 1.2, 1.3] { gate.at(moment, .systemdReloaded) }
        gate.at(1.3, .targetsListed(listed))
        gate.at(1.3, .unitsListed([web: UnitStatus(.active)]))
        gate.at(1.4, .systemdReloaded)
        gate.at(1.4, .unitRead(try unit(.open), open))
        try gate.read(1.5, .closed, .inactive)
        gate.at(1.9, .woke)
        gate.at(2, .woke)
        #expect(
            gate.text == """
                1s reloaded
                    list web.service
                1.1s reloaded
                1.2s reloaded
                1.3s reloaded
                1.3s listed killswitch-open@shop.target=active
                1.3s units listed web.service=active
                1.4s reloaded
                1.4s killswitch-open@shop.target read: active
                1.5s killswitch-closed@shop.target read: inactive
                1.9s woke
                2s woke
                    list web.service

                """)
    }

    /// With a new connection signals were missed, and each unit is read. After a reload the listing is
    /// enough, but for the stop limit, which may be another now.
    @Test func aUnitIsReadAfterAReloadOnlyWhenItsLimitIsNeeded() throws {
        var gate = try GateTranscript.settled(units: ["web.service": UnitStatus(.active)])
        let web = try unit("web.service")
        gate.at(1, .systemdReloaded)
        let listed = try gate.list(1.1, .open)
        #expect(!listed.contains(.readUnit(web)))
        let closing = gate.decide(2, .ended)
        #expect(closing.contains(.readUnit(web)))
        try gate.at(2, started: .closed)
        gate.at(
            2.1, .unitRead(web, UnitSnapshot(UnitStatus(.deactivating), stopLimit: .seconds(20))))
        gate.forget()
        gate.at(15, .woke)
        gate.at(24.1, .woke)
        #expect(
            gate.text == """
                15s woke
                    log warning: systemd has not answered StartUnit within 3 s; polkitd may hang; gates \
                move as soon as it answers
                24.1s woke
                    log error: shop: unit 'web.service': it has not stopped within its limit of 20 s

                """)
    }

    @Test func signalsAreSubscribedToOnceAndEndWithTheAttachment() throws {
        var gate = try GateTranscript.settled(units: ["web.service": UnitStatus(.active)])
        let web = try unit("web.service")
        let isSubscription = { (effect: GateEffect) in
            switch effect {
            case .subscribe, .unsubscribe: true
            default: false
            }
        }
        let none = gate.decide(1, .ended).filter(isSubscription)
        #expect(none.isEmpty)
        let detached = try gate.read(2, .open, .inactive).filter(isSubscription)
        #expect(detached == [.unsubscribe([web])])
        let again = gate.at(
            3, .unitRead(try unit(.open), UnitSnapshot(UnitStatus(.inactive), requisiteOf: [web]))
        ).filter(isSubscription)
        #expect(again == [.subscribe([web])])
        // A new connection follows nothing yet.
        gate.at(4, .busLost(problem: "gone"))
        let anew = gate.at(5, .targetsListed([:])).filter(isSubscription)
        guard case .subscribe(let units)? = anew.first else {
            throw InvalidFlag.missing(key: "all")
        }
        #expect(units.count == 7 && units.contains(web))
    }
}
