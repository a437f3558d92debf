import CivilTime
import EventLoop
import Testing

@Suite(.timeLimit(.minutes(5)))
struct MachineDriverTests {
    private let loop: EventLoop
    private let driver: MachineDriver<Int>
    private let handled = Holder<[[Int]]>()

    init() throws {
        loop = try EventLoop()
        driver = MachineDriver(on: loop)
        handled.held = []
    }

    /// Has each turn handle events; what `effect` posts is an outcome of an event.
    private func start(effect: @escaping (Int) -> Void = { _ in }) {
        driver.start { [driver, handled] in
            var turn: [Int] = []
            driver.handleEvents { event in
                turn.append(event)
                effect(event)
            }
            handled.held?.append(turn)
        }
    }

    @Test func eventsWaitForTheStartAndForTheLoop() throws {
        driver.post(1)
        try loop.settle()
        #expect(!driver.isEmpty)
        start()
        driver.post(2)
        #expect(handled.held == [])
        try loop.settle()
        #expect(handled.held == [[1, 2]])
        #expect(driver.isEmpty)
    }

    @Test func theOutcomeOfAnEffectIsHandledAfterTheEventsBeforeIt() throws {
        start { [driver] event in
            if event == 1 { driver.post(3) }
            #expect(driver.isEmpty == (event == 3))
        }
        driver.post(1)
        driver.post(2)
        try loop.settle()
        #expect(handled.held == [[1, 2, 3]])
    }

    /// A machine that answers each event with another must not stop the loop.
    @Test func anEndlessChainLetsOtherSourcesWork() throws {
        start { [driver] event in driver.post(event + 1) }
        driver.post(1)
        var isCalled = false
        let other = Deferred(loop) { isCalled = true }
        other.arm()
        for _ in 1...3 { try loop.runOnce(.zero) }
        #expect(isCalled)
        #expect(handled.held?.first == Array(1...1000))
        driver.stop()
    }

    @Test func aTurnEndsInItsTimeAndTheNextGoesOn() throws {
        driver.start { [driver, handled] in
            driver.handleEvents(while: { false }) { handled.held?.append([$0]) }
        }
        for event in 1...3 { driver.post(event) }
        try loop.runOnce(.zero)
        #expect(handled.held == [[1]])
        try loop.settle()
        #expect(handled.held == [[1], [2], [3]])
    }

    @Test func droppedEventsAreNotHandled() throws {
        start { [driver] event in if event == 1 { driver.removeAll { $0 == 2 } } }
        for event in 1...3 { driver.post(event) }
        try loop.settle()
        #expect(handled.held == [[1, 3]])
    }

    @Test func aStoppedDriverOnlyQueues() throws {
        start()
        driver.post(1)
        driver.stop()
        try loop.settle()
        #expect(handled.held == [])
        #expect(!driver.isEmpty)
    }
}
