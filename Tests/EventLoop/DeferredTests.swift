import EventLoop
import Testing

@Suite(.timeLimit(.minutes(5)))
struct DeferredTests {
    private let loop: EventLoop

    init() throws { loop = try EventLoop() }

    @Test func aDeferredSourceIsOffUntilArmed() throws {
        let calls = Counter()
        let deferred = Deferred(loop) { calls.add() }
        try loop.settle()
        #expect(calls.count == 0)
        deferred.arm()
        #expect(calls.count == 0)
        try loop.settle()
        #expect(calls.count == 1)
    }

    @Test func aSourceThatIsArmedTwiceIsCalledOnce() throws {
        let calls = Counter()
        let deferred = Deferred(loop) { calls.add() }
        deferred.arm()
        deferred.arm()
        try loop.settle()
        #expect(calls.count == 1)
    }

    /// What comes last by its priority comes last, also if it was armed first.
    @Test func aLowerPriorityComesLater() throws {
        let calls = Holder<[Int]>()
        calls.held = []
        let idle = Deferred(loop, priority: .idle) { calls.held?.append(3) }
        let low = Deferred(loop, priority: .low) { calls.held?.append(2) }
        let normal = Deferred(loop) { calls.held?.append(1) }
        for deferred in [idle, low, normal] { deferred.arm() }
        try loop.settle()
        #expect(calls.held == [1, 2, 3])
    }

    @Test func aSourceThatItsHandlerArmsIsCalledAgain() throws {
        let calls = Counter()
        let holder = Holder<Deferred>()
        holder.held = Deferred(loop) {
            calls.add()
            if calls.count < 3 { holder.held?.arm() }
        }
        holder.held?.arm()
        try loop.settle()
        #expect(calls.count == 3)
        holder.held = nil
    }

    @Test func aSourceThatArmsItselfForeverLeavesOthersTheirTurn() throws {
        let holder = Holder<Deferred>()
        holder.held = Deferred(loop) { holder.held?.arm() }
        holder.held?.arm()
        let calls = Counter()
        let other = try Timer(loop, accuracy: .zero) { calls.add() }
        other.set(at: loop.now.boot)
        try loop.run { calls.count == 1 }
        holder.held = nil
    }
}
