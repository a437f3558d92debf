import CivilTime
import Decision
import Drivers
import EventLoop
import Support
import Testing

/// Times on a real loop. Tests may not set the clock of the machine, so a stand-in for the kernel's timer
/// reports the step.
@Suite(.timeLimit(.minutes(5))) struct ClockTests {
    /// A driver whose service counts down to its end.
    private final class Running {
        let running: RunningDriver
        let clock = SteppingClock()
        private let source: FakeSource
        private let box = Box()

        private final class Box {
            var events: [Event] = []
        }

        init(endingIn wait: Duration) throws {
            running = try RunningDriver(kernel: clock.kernel)
            let (driver, wall) = (running.driver, running.loop.now.wall)
            let end = Zone.utc.rfc3339(wall + wait)
            source = FakeSource(
                running.plan.sources[0].name,
                answering: #"{"end": "countdown", "at": "\#(end)"}"#, at: wall
            ) { driver.post($0) }
            let box = box
            driver.observer = { if case .handled(let event) = $0 { box.events.append(event) } }
            try driver.start([source])
        }

        var state: State? { get throws { try running.serviceState } }

        /// Turns the loop until the condition holds, or fails after two minutes.
        func turn(until isSo: (Running) throws -> Bool) throws {
            let loop = running.loop
            let deadline = loop.now.boot + longestWait
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
        let running = try Running(endingIn: .seconds(5))
        try running.turn { try $0.state == .countdown }
        // The next poll is an hour away, so the timer of the wall clock ends the service.
        try running.turn { try $0.state == .ended }
        #expect(running.wakes >= 1)
    }

    @Test func aStepOfTheClockIsAnEventAndTheTimerIsSetAnew() throws {
        let running = try Running(endingIn: .seconds(10))
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
        let before = try running.running.folder.text(of: "run/shop/state.json")
        running.clock.expire()
        try running.turn { $0.wakes == 1 }
        #expect(try running.running.folder.text(of: "run/shop/state.json") == before)
    }
}
