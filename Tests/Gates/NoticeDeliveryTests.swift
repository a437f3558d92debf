import CivilTime
import Decision
import Gates
import Support
import Testing

struct NoticeDeliveryTests {
    let start: TargetJob

    init() throws { start = .start(try target(.notice)) }

    @Test func eachNoticeStartsTheTargetOnceAndMovesNoGate() throws {
        var gate = try GateTranscript.settled(showsGates: true)
        gate.at(1, .noticePublished(gate.shop))
        gate.at(1.01, taken: start)
        try gate.at(1.02, .notice, is: .active)
        try gate.at(1.03, .notice, is: .inactive)
        gate.at(60, .woke)
        gate.at(100, .noticePublished(gate.shop))
        gate.expect(
            """
            1s shop told
                start killswitch-notice@shop.target
            1.01s start killswitch-notice@shop.target: queued
            1.02s killswitch-notice@shop.target is active
            1.03s killswitch-notice@shop.target is inactive
            60s woke
            100s shop told
                start killswitch-notice@shop.target
            """)
    }

    /// systemd starts nothing with a target that is up.
    @Test func aNoticeWaitsUntilTheUnitsOfTheOneBeforeHaveEnded() throws {
        var gate = try GateTranscript.settled()
        gate.at(1, .noticePublished(gate.shop))
        gate.at(1.01, taken: start)
        try gate.at(1.02, .notice, is: .active)
        gate.forget()
        gate.at(5, .noticePublished(gate.shop))
        gate.at(6, .noticePublished(gate.shop))
        gate.at(30, .woke)
        try gate.at(31, .notice, is: .inactive)
        gate.at(31.01, taken: start)
        gate.at(33, .woke)
        gate.expect(
            """
            5s shop told
            6s shop told
            30s woke
            31s killswitch-notice@shop.target is inactive
                start killswitch-notice@shop.target
            31.01s start killswitch-notice@shop.target: queued
            33s woke
            """)
    }

    @Test func aRefusedStartIsTriedAgainAndReportedOnce() throws {
        var gate = try GateTranscript.settled()
        gate.at(1, .noticePublished(gate.shop))
        gate.at(1, taken: start, problem: "no such unit")
        gate.at(1, .systemStateRead(isStopping: false))
        gate.at(2, .woke)
        gate.at(2, taken: start, problem: "no such unit")
        gate.at(2, .systemStateRead(isStopping: false))
        gate.at(4, .woke)
        gate.at(4, taken: start)
        gate.at(3000, .woke)
        gate.expect(
            """
            1s shop told
                start killswitch-notice@shop.target
            1s start killswitch-notice@shop.target: no such unit
                ask whether the system is stopping
            1s the system is up
            2s woke
                start killswitch-notice@shop.target
            2s start killswitch-notice@shop.target: no such unit
                ask whether the system is stopping
                log error: shop: start 'killswitch-notice@shop.target': no such unit; retrying
            2s the system is up
            4s woke
                start killswitch-notice@shop.target
            4s start killswitch-notice@shop.target: queued
            3000s woke
            """)
    }

    /// A mail that nobody gets is an alarm, on every surface.
    @Test func aRefusedStartIsAProblemUntilItSucceeds() throws {
        var gate = try GateTranscript.settled()
        gate.at(1, .noticePublished(gate.shop))
        gate.at(1, taken: start, problem: "it is masked")
        gate.at(1, .systemStateRead(isStopping: false))
        // A single refusal may be that of a system that stops.
        #expect(gate.problems.isEmpty)
        gate.at(2, .woke)
        gate.at(2, taken: start, problem: "it is masked")
        gate.at(2, .systemStateRead(isStopping: false))
        #expect(
            gate.problems == [
                "shop: the units for its notices cannot be started: it is masked"
            ])
        #expect(gate.machine.overview.problems.map(\.isAlarm) == [true])
        #expect(
            gate.machine.overview.problems.map(\.since)
                == [Boottime(microseconds: 1_002_000_000)])
        gate.forget()
        gate.at(3, .systemdReloaded)
        gate.at(3.1, taken: start)
        #expect(gate.problems.isEmpty)
        gate.expect(
            """
            3s reloaded
                start killswitch-notice@shop.target
                list
            3.1s start killswitch-notice@shop.target: queued
            """)
    }

    @Test func aLostNoticeIsAProblemUntilTheTargetIsStartedByHand() throws {
        var gate = try GateTranscript.settled()
        gate.at(1, .noticePublished(gate.shop))
        for second in [1.0, 2] {
            gate.at(second, .woke)
            gate.at(second, taken: start, problem: "it is masked")
            gate.at(second, .systemStateRead(isStopping: false))
        }
        gate.at(3700, .woke)
        gate.at(3800, .systemdReloaded)
        #expect(
            gate.problems == [
                "shop: the units for its notices were not started for its last notice "
                    + "within an hour: it is masked"
            ])
        try gate.at(4000, .notice, is: .active)
        #expect(gate.problems.isEmpty)
    }

    @Test func aNoticeThatCannotBePassedOnForAnHourIsLost() throws {
        var gate = try GateTranscript.settled()
        gate.at(1, .busLost(problem: "gone"))
        gate.forget()
        gate.at(2, .noticePublished(gate.shop))
        try gate.list(4000, .open)
        gate.expect(
            """
            2s shop told
            4000s listed killswitch-open@shop.target=active
                log info: the bus is back; gates are moved again
                log error: shop: the units for its notice could not be started for an hour; giving \
            up, because the notice is too old
            """)
    }

    @Test func aNoticeBeforeTheBusIsPassedOnOnceTheBusIsThere() throws {
        var gate = try GateTranscript()
        gate.at(0, .started)
        gate.decide(0.1, .running)
        gate.at(0.1, .noticePublished(gate.shop))
        gate.forget()
        try gate.list(0.2, .open)
        #expect(gate.text.contains("start killswitch-notice@shop.target"))
    }

    /// A failed mail is an alarm, although the gate neither starts nor stops the unit.
    @Test func aUnitThatFailsToPassOnANoticeIsAProblem() throws {
        var gate = try GateTranscript.settled(showsGates: true)
        gate.at(1, .dropInsRead([try target(.notice): ["mail.service"]]))
        gate.at(
            1, .unitRead("mail.service", UnitSnapshot(UnitStatus(.inactive), result: "success")))
        gate.decide(2, .maintenance)
        #expect(gate.problems.isEmpty)
        gate.forget()
        try gate.at(3, "mail.service", is: .failed)
        gate.at(
            3, .unitRead("mail.service", UnitSnapshot(UnitStatus(.failed), result: "exit-code")))
        gate.expect(
            """
            3s mail.service is failed
            3s mail.service read: failed
                log error: shop: unit 'mail.service': it failed with result 'exit-code'
            """)
        #expect(gate.machine.overview.problems.map(\.isAlarm) == [true])
        try gate.at(9, "mail.service", is: .activating)
        #expect(gate.problems.isEmpty)
    }

    /// It neither delays a move nor counts as a unit of the gate.
    @Test func theGateDoesNotWaitForItsUnits() throws {
        var gate = try GateTranscript.settled(showsGates: true)
        gate.at(1, .dropInsRead([try target(.notice): ["mail.service"]]))
        try gate.read(1, "mail.service", .active)
        gate.forget()
        gate.decide(2, .ended)
        try gate.at(2, started: .closed, .ended)
        try gate.at(2.1, inactive: [.open], active: [.closed, .ended])
        try gate.readMoved(2.2, from: .open, to: .closed, .ended)
        #expect(gate.text.contains("log notice: shop: gate closed in 200 ms\n"))
        #expect(!gate.text.contains("mail.service"))
    }
}
