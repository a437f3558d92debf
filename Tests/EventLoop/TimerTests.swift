import CivilTime
import EventLoop
import Glibc
import Testing

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
