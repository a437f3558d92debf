import CivilTime
import Decision
import Drivers
import EventLoop
import Files
import FlagSources
import Storage
import Support
import Testing

/// Reloads while fetches are in flight, queued, or end too late.
@Suite(.timeLimit(.minutes(5))) struct ReconfigureTests {
    /// A driver with one source, whose fetches the test ends.
    private final class Running {
        private let running: RunningDriver
        private let box: Box

        private final class Box {
            var notices: [String] = []
        }

        init() throws {
            let box = Box()
            running = try RunningDriver { box.notices.append($0.sentence) }
            self.box = box
        }

        var driver: DecisionDriver { running.driver }
        var folder: TemporaryFolder { running.folder }

        func source(_ fingerprint: String) throws -> FakeSource {
            FakeSource(running.plan.sources[0].name, fingerprint, at: running.loop.now.wall) {
                [unowned driver] in driver.post($0)
            }
        }

        func reload(_ source: FakeSource) {
            driver.post(Reconfiguration(running.plan, sources: [source]) { _ in nil })
        }

        func settle() throws {
            var isSettled = false
            driver.observer = { if case .queueDrained = $0 { isSettled = true } }
            driver.post(.woke)
            while !isSettled { try running.loop.runOnce(.milliseconds(20)) }
        }

        var serviceState: State? { get throws { try running.serviceState } }

        /// Whether the stored flags have this binding.
        func isStored(under fingerprint: String) -> Bool {
            var isBound = false
            _ = running.state.flags(of: "app", mark: "/nonexistent") {
                isBound = $0 == fingerprint
                return true
            }
            return isBound
        }

        var complaints: [String] { box.notices.filter { !$0.hasPrefix("shop: ") } }
    }

    /// The daemon's observer retains the driver. Once that cycle outlived `stop`, and a leak checker
    /// reported it after each run.
    @Test func aStoppedAgentLetsGoOfAnObserverThatHoldsIt() throws {
        weak var driver: DecisionDriver?
        do {
            let running = try Running()
            let held = running.driver
            held.observer = { _ in _ = held.machine }
            held.stop()
            driver = held
        }
        #expect(driver == nil)
    }

    /// Only the machine repeats the fetch, also for another credential: the driver does not.
    @Test(arguments: ["same", "other"])
    func aFetchInFlightIsRepeatedByTheNewObjectOnce(_ fingerprint: String) throws {
        let running = try Running()
        let (old, new) = (try running.source("same"), try running.source(fingerprint))
        try running.driver.start([old])
        try running.settle()
        #expect(old.fetches == 1)
        running.reload(new)
        try running.settle()
        #expect(old.isStopped && new.fetches == 1)
        new.answer(#"{"end": "over"}"#)
        try running.settle()
        #expect(try running.serviceState == .ended)
        #expect(running.complaints == [])
        #expect(running.driver.machine.isProgressing(at: running.driver.now))
    }

    /// It is an answer of the old object: it is stored under the old binding.
    @Test func anAnswerThatIsQueuedBeforeAReloadCounts() throws {
        let running = try Running()
        let (old, new) = (try running.source("old"), try running.source("new"))
        try running.driver.start([old])
        try running.settle()
        old.answer(#"{"end": "over"}"#)
        running.reload(new)
        try running.settle()
        #expect(try running.serviceState == .ended)
        #expect(running.isStored(under: "old"))
        #expect(new.fetches == 1)
    }

    /// Otherwise flags of the old address would be stored under the new one, and their ETag sent there.
    @Test func anAnswerThatComesBetweenAReloadAndItsTurnIsLost() throws {
        let running = try Running()
        let (old, new) = (try running.source("old"), try running.source("new"))
        try running.driver.start([old])
        try running.settle()
        running.reload(new)
        old.answer(#"{"end": "over"}"#)
        try running.settle()
        #expect(try running.serviceState == .undecided)
        #expect(try !File.exists(running.folder("state/flags/app.json")))
        #expect(new.fetches == 1)
        new.answer(#"{"end": "no"}"#)
        try running.settle()
        #expect(try running.serviceState == .running)
        #expect(running.isStored(under: "new"))
    }

    @Test func eachOfSeveralReloadsInOneTurnTakesItsOwnSources() throws {
        let running = try Running()
        let sources = try ["a", "b", "c"].map(running.source)
        try running.driver.start([sources[0]])
        try running.settle()
        running.reload(sources[1])
        running.reload(sources[2])
        try running.settle()
        #expect(sources.map(\.isStopped) == [true, true, false])
        #expect(sources.map(\.fetches) == [1, 1, 1])
        sources[2].answer(#"{"end": "over"}"#)
        try running.settle()
        #expect(try running.serviceState == .ended)
        #expect(running.isStored(under: "c"))
    }
}
