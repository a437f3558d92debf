import CivilTime
import Decision
import Drivers
import EventLoop
import Files
import Storage
import Support
import Testing

/// Times on a real loop. Tests may not set the clock of the machine, so a stand-in for the kernel's timer
/// reports the step.
@Suite(.timeLimit(.minutes(5))) struct ClockTests {
    /// A real driver on a real loop, with one service that counts down to `end`.
    private final class Running {
        let folder: TemporaryFolder
        let loop: EventLoop
        let driver: DecisionDriver
        let clock = SteppingClock()
        private let source: FakeSource

        init(endingIn wait: Duration) throws {
            folder = try TemporaryFolder()
            loop = try EventLoop()
            let plan = try Plan.shop()
            let state = StateDirectory(path: folder("state"))
            try state.prepare()
            let box = Box()
            let driver = DecisionDriver(
                loop: loop, machine: Machine(plan, on: loop),
                runtime: RuntimeDirectory(path: folder("run"), bootID: "boot"),
                state: state, kernel: clock.kernel, announce: { box.notices.append($0.sentence) })
            self.driver = driver
            let wall = loop.now.wall
            let end = Zone.utc.rfc3339(wall + wait)
            source = try FakeSource(
                plan.sources[0].name, answering: #"{"end": "countdown", "at": "\#(end)"}"#, at: wall
            ) { driver.post($0) }
            self.box = box
            driver.observer = { if case .handled(let event) = $0 { box.events.append(event) } }
            try driver.start([source])
        }

        private final class Box {
            var notices: [String] = []
            var events: [Event] = []
        }

        private let box: Box

        var state: State? {
            get throws { try PublishedState.read(in: folder("run/shop"))?.state }
        }

        /// Turns the loop until the condition holds, or fails after ten seconds.
        func turn(until isSo: (Running) throws -> Bool) throws {
            let deadline = loop.now.boot + .seconds(10)
            while try !isSo(self) {
                guard loop.now.boot < deadline else {
                    throw TestFailure("timed out; events: \(box.events)")
                }
                try loop.runOnce(.milliseconds(20))
            }
        }

        var steps: Int { box.events.count { $0 == .clockStepped } }
        var wakes: Int { box.events.count { $0 == .woke } }
    }

    @Test func anEndComesTrueByTheWallClockAlone() throws {
        let running = try Running(endingIn: .seconds(2))
        try running.turn { try $0.state == .countdown }
        // The next poll is an hour away, so the timer of the wall clock ends the service.
        try running.turn { try $0.state == .ended }
        #expect(running.wakes >= 1)
    }

    @Test func aStepOfTheClockIsAnEventAndTheTimerIsSetAnew() throws {
        let running = try Running(endingIn: .seconds(2))
        try running.turn { try $0.state == .countdown }
        for step in 1...3 {
            running.clock.step()
            try running.turn { $0.steps == step }
        }
        #expect(try running.state == .countdown)
        // The step has used up the timer: the end needs a new one.
        try running.turn { try $0.state == .ended }
    }

    /// As after a suspend, when the timer may fire at another time than the set one.
    @Test func aTimerThatIsEarlyChangesNothing() throws {
        let running = try Running(endingIn: .seconds(3600))
        try running.turn { try $0.state == .countdown }
        let before = try running.folder.text(of: "run/shop/state.json")
        running.clock.expire()
        try running.turn { $0.wakes == 1 }
        #expect(try running.folder.text(of: "run/shop/state.json") == before)
    }
}
