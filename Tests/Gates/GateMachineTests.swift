import Decision
import Gates
import Support
import Testing

/// The machine of gates by its transcripts, and what it does when the same happens again and again.
///
/// Each folder of transcripts is a topic:
/// - `moves`: verdicts become jobs of systemd.
/// - `orders`: `targets`, what root's mover is to bring about.
/// - `disturbances`: administrators move gates, the system shuts down, the bus is lost, systemd reads its units again.
/// - `units`: what is wrong with an attached unit.
/// - `refused-starts`: starts that a closed gate, or an assertion, has refused.
/// - `listed-units`: units that the configuration lists, and that a unit of root attaches.
/// - `lost-units`: units whose file is gone or that are masked. systemd forgets their drop-ins, which name them still.
/// - `status`: what a gate is in fact, `gate.json`.
/// - `unanswered-jobs`: systemd does not answer, or the bus is restarted: can the gate be moved?
/// - `availability`: whether people see the page of a service while its gate opens.
/// - `drain`: units run on for a while after the gate has closed.
/// - `notices`: the units that pass on a notice.
/// - `rows`: `units.json`, and how often it is written.
struct GateMachineTests {
    @Test(arguments: TranscriptFile.all(in: "Gates/Transcripts"))
    func itDoesWhatItsTranscriptSays(_ file: TranscriptFile) throws {
        try file.play(TranscribedGates.self)
    }

    /// Anybody may have systemd load a target of any name. A million of them would fill the memory.
    @Test func aTargetThatNobodyNeedsLeavesNothing() throws {
        var gate = try TranscribedGates(settled: "running")
        let before = gate.machine
        let names = [
            "killswitch-open@other.target", "killswitch-closed@other.target",
            "killswitch-variant@other:blue.target", "killswitch-variant@shop:blue.target",
            "killswitch-notice@shop.target",
        ]
        for name in names { try gate.play("\(name) is inactive", at: 1) }
        try gate.play("\(names[0]) is active", at: 1)
        try gate.play("the system is up", at: 1)
        for name in names { try gate.play("\(name) read: inactive", at: 1) }
        #expect(gate.machine == before)
        try gate.play("\(names[0]) read: active, permits a.service", at: 2)
        #expect(gate.machine.isOrphan("other"))
    }

    @Test func aGateThatIsMovedRepeatedlyDoesNotFillTheJournal() throws {
        var gate = try TranscribedGates(settled: "ended")
        var effects: [String] = []
        for second in 1...20 {
            effects += try gate.play(
                [
                    "killswitch-closed@shop.target is inactive", "the system is up", "woke",
                    "the system is up", "start killswitch-closed@shop.target queued",
                    "killswitch-closed@shop.target is active",
                    "killswitch-open@shop.target read: inactive",
                    "killswitch-closed@shop.target read: active",
                    "killswitch-ended@shop.target read: active",
                ], at: Double(second))
        }
        #expect(effects.count { $0.contains("somebody else") } == 3)
        #expect(effects.count { $0.hasPrefix("start") } < 10)
    }

    /// A timer may try each second.
    @Test func aRefusedStartIsLoggedAtOnceAndThoseAfterItOnceAMinute() throws {
        var gate = try TranscribedGates(settled: "ended", units: "web.service inactive")
        var effects: [String] = []
        for second in 1...150 {
            effects += try gate.play(
                "job \(second) to start web.service failed by a dependency", at: Double(second))
        }
        effects += try gate.play("woke", at: 200)
        #expect(
            effects.filter { $0.hasPrefix("log") } == [
                "log notice: shop: a start of unit 'web.service' refused: the gate is closed",
                "log notice: shop: 60 more starts of unit 'web.service' refused: the gate is closed",
                "log notice: shop: 60 more starts of unit 'web.service' refused: the gate is closed",
                "log notice: shop: 29 more starts of unit 'web.service' refused: the gate is closed",
            ])
        #expect(gate.machine.overview.findings.isEmpty)
        let view = gate.machine.view(of: "shop", at: TranscribedGates.time(200))
        #expect(view?.refusedStarts == 150)
    }

    @Test func theSentenceOfARefusedStartHasTheReasonAndWhoSigned() throws {
        var verdict = Verdict(state: .ended, gate: .closed, reason: .flags("app"))
        verdict.authors = ["alice"]
        let notice = GateLogMessage.startsRefused(
            "shop", "web.service", 1, isFirst: true, isOver: false, by: nil)
        #expect(
            notice.explained { _ in verdict }.sentence
                == "shop: a start of unit 'web.service' refused: the service is ended; set by the "
                + "flags of source 'app', signed by 'alice'")
    }

    /// The unit runs on, but nobody has asked it to stop.
    @Test func aUnitOfAGateThatSystemdDoesNotMoveIsNotLate() throws {
        var gate = try TranscribedGates(settled: "running", units: "web.service active")
        let refusals = ["closed", "ended"].map {
            "start killswitch-\($0)@shop.target refused: Access denied"
        }
        try gate.play("shop decided: closed ended", at: 1)
        try gate.play(refusals, at: 1.1)
        var effects = try gate.play("the system is up", at: 1.2)
        for second in 2...200 {
            effects += try gate.play(["woke", "the system is up"] + refusals, at: Double(second))
        }
        #expect(!effects.contains { $0.contains("has not stopped within") })
        let report = gate.machine.report(of: "shop", at: TranscribedGates.time(200))
        #expect(report?.units.problems == [:])
    }

    /// systemd answers one job after the other: that takes time with a thousand gates.
    @Test func aLongQueueOfJobsIsNoSilence() throws {
        let names = (0..<20).map { "s\($0)" }
        var gate = try TranscribedGates(
            head: "services = [\(names.map { "\"\($0)\"" }.joined(separator: ", "))]")
        try gate.play(["started", "targets listed: none"], at: 0)
        try gate.play(names.map { "\($0) decided: open running" }, at: 0)
        var effects: [String] = []
        for (position, name) in names.enumerated() {
            effects += try gate.play(
                "start killswitch-open@\(name).target queued", at: Double(position) / 2)
            effects += try gate.play("woke", at: Double(position) / 2 + 0.4)
        }
        #expect(!effects.contains { $0.contains("does not answer") }, "\(effects)")
    }

    /// The stop of a hundred units at once leads to a few writes.
    @Test func rowsAreWrittenAtOnceAndThenFiveTimesASecondAtMost() throws {
        let names = (100..<200).map { "u\($0).service" }
        let units = names.map { "\"\($0) active\"" }.joined(separator: ", ")
        var gate = try TranscribedGates(
            head: "shows = [\"rows\"]\nsettled = \"running\"\nunits = [\(units)]")
        var effects = try gate.play("shop decided: closed ended", at: 1)
        for (index, name) in names.enumerated() {
            effects += try gate.play("\(name) is inactive", at: 1.001 + Double(index) * 0.001)
        }
        #expect(effects.count { $0.hasPrefix("publish") } == 1)
        let rows = try gate.play("woke", at: 1.2).filter { $0.hasPrefix("publish") }
        #expect(rows.count == 1)
        #expect(rows.first?.matches(of: /u\d+\.service down inactive/).count == 100)
    }
}
