import CivilTime
import EventLoop
import Glibc
import Testing

@Suite(.timeLimit(.minutes(5)))
struct WallTimerTests {
    private let loop: EventLoop

    init() throws { loop = try EventLoop() }

    @Test(arguments: [Int64.min, -1_000_000, 0, 1, 999_999, 1_000_000])
    func aPastInstantIsDueAtOnce(microseconds: Int64) throws {
        var events: [WallTimer.Event] = []
        let timer = try WallTimer(loop) { events.append($0) }
        timer.set(at: Instant(microseconds: microseconds))
        try loop.settle()
        #expect(events == [.due])
    }

    @Test(arguments: [Int64.max, 9_100_000_000_000_000, 253_402_300_799_000_000])
    func aDistantInstantIsAcceptedAndNotDue(microseconds: Int64) throws {
        let timer = try WallTimer(loop) { Issue.record("\($0)") }
        timer.set(at: Instant(microseconds: microseconds))
        #expect(try loop.runOnce(.milliseconds(10)) == false)
    }

    @Test func aWallTimerIsDueOnceAndNoSoonerAndCanBeSetAgain() throws {
        let calls = Counter()
        let instant = loop.now.wall + .milliseconds(15)
        let timer = try WallTimer(loop) { event in
            calls.add()
            #expect(event == .due)
            #expect(loop.now.wall >= instant)
        }
        timer.set(at: instant)
        try loop.run { calls.count == 1 }
        #expect(try loop.runOnce(.milliseconds(20)) == false)
        timer.set(at: instant)
        try loop.run { calls.count == 2 }
    }

    @Test func aTimerThatIsSetToNothingIsNotDue() throws {
        let timer = try WallTimer(loop) { Issue.record("\($0)") }
        timer.set(at: loop.now.wall)
        timer.set(at: nil)
        #expect(try loop.runOnce(.milliseconds(10)) == false)
    }

    /// The kernel answers the read with `ECANCELED` after the clock was set. Here the test answers so.
    @Test func aStepOfTheClockIsReportedAndTheTimerStillFires() throws {
        var answers = [ECANCELED, 0]
        var kernel = WallTimer.Kernel.real
        let read = kernel.read
        kernel.read = { descriptor in
            #expect(read(descriptor) == 0)
            return answers.removeFirst()
        }
        var events: [WallTimer.Event] = []
        let timer = try WallTimer(loop, kernel: kernel) { events.append($0) }
        timer.set(at: loop.now.wall)
        try loop.settle()
        #expect(events == [.clockStepped])
        timer.set(at: loop.now.wall)
        try loop.settle()
        #expect(events == [.clockStepped, .due])
    }

    /// After a step between two events the next `timerfd_settime` reports it instead, and clears it from
    /// the descriptor, so that no read reports it.
    @Test func aStepThatOnlySettingTheTimerTellsOfIsNotLost() throws {
        var kernel = WallTimer.Kernel.real
        let set = kernel.set
        var hasStepped = false
        kernel.set = { descriptor, instant in
            if hasStepped {
                hasStepped = false
                return ECANCELED
            }
            return set(descriptor, instant)
        }
        var events: [WallTimer.Event] = []
        let timer = try WallTimer(loop, kernel: kernel) { events.append($0) }
        hasStepped = true
        timer.set(at: loop.now.wall)
        #expect(events.isEmpty)
        try loop.settle()
        #expect(Set(events) == [.clockStepped, .due])
        #expect(events.count == 2)
    }

    /// The timer was set again after it became readable: the read finds no expiry.
    @Test func anExpiryThatWasCancelledIsNotReported() throws {
        var kernel = WallTimer.Kernel.real
        kernel.read = { _ in EAGAIN }
        let timer = try WallTimer(loop, kernel: kernel) { Issue.record("\($0)") }
        timer.set(at: loop.now.wall)
        #expect(try loop.runOnce(.seconds(1)))
    }
}

@Suite(.timeLimit(.minutes(5)))
struct TimerTests {
    private let loop: EventLoop

    init() throws { loop = try EventLoop() }

    @Test(arguments: [Duration.zero, .milliseconds(1), .seconds(3600)])
    func aPastMomentIsDueAtOnceHoweverCoarseTheTimer(accuracy: Duration) throws {
        let calls = Counter()
        let timer = try Timer(loop, accuracy: accuracy) { calls.add() }
        timer.set(at: loop.now.boot - .seconds(5))
        #expect(try loop.runOnce(.zero))
        #expect(calls.count == 1)
        timer.set(at: Boottime(microseconds: .min))
        #expect(try loop.runOnce(.zero))
        #expect(calls.count == 2)
    }

    @Test func aTimerIsDueOnceAndNoSooner() throws {
        let calls = Counter()
        let moment = loop.now.boot + .milliseconds(15)
        let timer = try Timer(loop, accuracy: .zero) {
            calls.add()
            #expect(loop.now.boot >= moment)
        }
        timer.set(at: moment)
        try loop.run { calls.count > 0 }
        #expect(try loop.runOnce(.milliseconds(20)) == false)
        #expect(calls.count == 1)
    }

    @Test func theEarlierOfTwoComesFirst() throws {
        var order: [String] = []
        let early = try Timer(loop, accuracy: .zero) { order.append("early") }
        let late = try Timer(loop, accuracy: .zero) { order.append("late") }
        let wall = try WallTimer(loop) { _ in order.append("wall") }
        late.set(at: loop.now.boot + .seconds(3600))
        wall.set(at: loop.now.wall + .seconds(3600))
        early.set(at: loop.now.boot + .milliseconds(5))
        try loop.run { !order.isEmpty }
        wall.set(at: loop.now.wall + .milliseconds(5))
        try loop.run { order.count == 2 }
        late.set(at: loop.now.boot)
        try loop.run { order.count == 3 }
        #expect(order == ["early", "wall", "late"])
    }

    @Test func aDisarmedTimerIsNotDue() throws {
        let calls = Counter()
        let timer = try Timer(loop, accuracy: .zero) { calls.add() }
        timer.set(at: loop.now.boot)
        timer.set(at: nil)
        #expect(try loop.runOnce(.milliseconds(10)) == false)
        timer.set(at: loop.now.boot)
        try loop.settle()
        #expect(calls.count == 1)
    }

    @Test func theFarFutureIsNotNow() throws {
        let timer = try Timer(loop, accuracy: .seconds(1)) { Issue.record("due") }
        timer.set(at: Boottime(microseconds: .max))
        #expect(try loop.runOnce(.milliseconds(10)) == false)
    }
}
