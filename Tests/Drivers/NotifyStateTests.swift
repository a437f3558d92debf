import CivilTime
import Decision
import Drivers
import Support
import Systemd
import Testing

/// The messages to the service manager, as a transcript: seconds since the start, then the messages.
@Suite struct NotifyStateTests {
    private struct Play {
        var supervision: NotifyState
        var machine: Machine
        var text = ""
        private let start = Boottime(microseconds: 0)
        private var wall = Instant(seconds: 1_800_000_000)

        init(watchdog: Duration? = nil, firstTimeout: Duration = .seconds(30)) throws {
            let format = Format.serviceEnd(endKeys: ["end"], countdownKey: "at")
            let service = Service(
                name: "shop", zone: .utc, switches: [Switch(source: "app", format: format)],
                policy: Policy(firstTimeout: firstTimeout))
            machine = Machine(
                plan: Plan(
                    sources: [SourcePlan(name: "app", interval: .seconds(60))], services: [service]),
                memory: Memory(), bootID: "boot", clockFloor: Instant(seconds: 0), seed: 1,
                at: Now(wall: wall, boot: start))
            supervision = NotifyState(watchdog: watchdog, at: start)
        }

        func expect(_ expected: String, sourceLocation: SourceLocation = #_sourceLocation) {
            #expect(text == expected + "\n", sourceLocation: sourceLocation)
        }

        mutating func at(
            _ seconds: Int, milliseconds: Int = 0, _ event: Event? = nil, problem: String? = nil
        ) {
            let elapsed = Duration.milliseconds(1000 * seconds + milliseconds)
            let now = Now(wall: wall + elapsed, boot: start + elapsed)
            if let event { _ = machine.handle(event, at: now) }
            var condition = HostCondition()
            condition.findings = problem.map { [Finding(.host, .configurationRefused, $0)] } ?? []
            let messages = supervision.dueMessages(
                for: machine.overview(at: now, condition),
                isProgressing: machine.isProgressing(at: now), at: now.boot)
            let next = supervision.nextWake.map { "\(($0 - start).wholeSeconds)s" } ?? "-"
            text += "\(seconds)s, then \(next)\n"
            for message in messages { text += "    \(message.text)\n" }
        }

        mutating func answer(at seconds: Int, _ body: String) throws {
            let bytes = Array(body.utf8)
            let answer = Answer(
                body: bytes, flags: try FlagDocument.parse(bytes),
                fetchedAt: wall + .seconds(seconds))
            at(seconds, .fetchEnded("app", .answer(answer)))
        }
    }

    private static let running = #"{"end": "no"}"#

    @Test func readyComesWithTheFirstDecisionAndNotBefore() throws {
        var play = try Play()
        play.at(0, .started)
        play.at(1)
        try play.answer(at: 2, Self.running)
        play.at(3)
        play.expect(
            """
            0s, then -
                STATUS=shop: undecided; app: no flags yet, asking now
            1s, then -
            2s, then -
                READY=1
                STATUS=shop: running; app: flags 0 s old, next poll in 43 s
            3s, then -
            """)
    }

    @Test func moreTimeIsRequestedOnlyIfFirstTimeoutNeedsIt() throws {
        var play = try Play(firstTimeout: .seconds(120))
        play.at(0, .started)
        play.at(5)
        play.at(10)
        play.at(20)
        try play.answer(at: 25, Self.running)
        play.expect(
            """
            0s, then 10s
                EXTEND_TIMEOUT_USEC=30000000
                STATUS=shop: undecided; app: no flags yet, asking now
            5s, then 10s
            10s, then 20s
                EXTEND_TIMEOUT_USEC=30000000
            20s, then 30s
                EXTEND_TIMEOUT_USEC=30000000
            25s, then -
                READY=1
                STATUS=shop: running; app: flags 0 s old, next poll in 43 s
            """)
    }

    /// The fetch hangs past its limit, so that the daemon asks for no more time for the start.
    @Test func noMoreTimeIsRequestedWithoutProgress() throws {
        var play = try Play(firstTimeout: .seconds(600))
        play.at(0, .started)
        #expect(play.text.contains("EXTEND_TIMEOUT_USEC=30000000\n"))
        play.text = ""
        play.at(40)
        #expect(play.text == "40s, then 50s\n")
    }

    @Test func pingsComeInHalfTheTimeWithATrueStatus() throws {
        var play = try Play(watchdog: .seconds(20))
        play.at(0, .started)
        try play.answer(at: 1, Self.running)
        play.at(10)
        play.at(19)
        play.at(20)
        play.expect(
            """
            0s, then 10s
                STATUS=shop: undecided; app: no flags yet, asking now
            1s, then 10s
                READY=1
                STATUS=shop: running; app: flags 0 s old, next poll in 43 s
            10s, then 20s
                STATUS=shop: running; app: flags 9 s old, next poll in 34 s
                WATCHDOG=1
            19s, then 20s
            20s, then 30s
                STATUS=shop: running; app: flags 19 s old, next poll in 24 s
                WATCHDOG=1
            """)
    }

    @Test func withoutProgressThereIsNoPingUntilThereIs() throws {
        var play = try Play(watchdog: .seconds(20))
        play.at(0, .started)
        try play.answer(at: 1, Self.running)
        play.at(70)
        play.at(71)
        play.at(72, .woke)
        #expect(
            play.text.hasSuffix(
                """
                70s, then 71s
                71s, then 72s
                72s, then 82s
                    STATUS=shop: running; app: flags 71 s old, asking now
                    WATCHDOG=1

                """))
    }

    @Test func problemsComeFirstInTheStatus() throws {
        var play = try Play()
        play.at(0, .started)
        try play.answer(at: 1, Self.running)
        play.at(2, .hinted("app"))
        play.at(3, .fetchEnded("app", .failure(Failure(.unreachable, "it is gone"))))
        play.at(4, .writeEnded(.storeLedger, problem: "disk full"), problem: "a.toml:1:1: no")
        let last = try #require(play.text.split(separator: "\n").last)
        #expect(
            last.hasPrefix(
                "    STATUS=cannot store the states: disk full; retrying; a.toml:1:1: no; "
                    + "1 more problem; shop: running; app: flags 3 s old"))
    }

    /// Each change used to be a status, and each status a look at all services.
    @Test func aBurstOfChangesIsOneStatusASecond() throws {
        var play = try Play()
        play.at(0, .started)
        try play.answer(at: 1, Self.running)
        play.text = ""
        for step in 1...3 {
            let failure = Failure(.unreachable, "failure \(step)")
            play.at(1, milliseconds: 300 * step, .hinted("app"))
            play.at(1, milliseconds: 300 * step, .fetchEnded("app", .failure(failure)))
        }
        play.at(2)
        play.at(3)
        play.expect(
            """
            1s, then 2s
            1s, then 2s
            1s, then 2s
            1s, then 2s
            1s, then 2s
            1s, then 2s
            2s, then -
                STATUS=source 'app': failure 3; the last good flags stay in force; shop: running; app: flags 1 s old, next poll in 106 s
            3s, then -
            """)
    }

    @Test func everyReloadIsAnsweredWithReady() throws {
        var play = try Play()
        play.at(0, .started)
        play.supervision.reloaded()
        play.at(1)
        try play.answer(at: 2, Self.running)
        play.at(3)
        play.supervision.reloaded()
        play.at(4)
        play.at(5)
        play.expect(
            """
            0s, then -
                STATUS=shop: undecided; app: no flags yet, asking now
            1s, then -
            2s, then -
                READY=1
                STATUS=shop: running; app: flags 0 s old, next poll in 43 s
            3s, then -
            4s, then -
                READY=1
                STATUS=shop: running; app: flags 2 s old, next poll in 41 s
            5s, then -
            """)
    }
}
