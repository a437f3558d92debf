/// A state that wants to be looked at when its time has come, and may have problems.
protocol Schedulable: Sendable {
    /// When it is due; never, without a time.
    var wake: Wake { get }
    var isTroubled: Bool { get }
}

/// The states of all services, or of all sources, and when they are due.
///
/// A state is changed through the subscript alone, which notes its position. So the states that are due
/// and the next wake-up cost what has changed since they were asked for, and not the number of states.
struct Timetable<State: Schedulable>: RandomAccessCollection, MutableCollection, Sendable {
    private var states: [State]
    private var wakes: EarliestWake
    /// The positions of the states with problems, by the last update.
    private var troubled: Set<Int> = []
    /// The positions that were changed since the wake-ups were last brought up to date.
    private var changed: [Int]

    /// These states, in their order.
    init(_ states: [State] = []) {
        self.states = states
        wakes = EarliestWake(count: states.count)
        changed = Array(states.indices)
    }

    var startIndex: Int { 0 }
    var endIndex: Int { states.count }

    subscript(position: Int) -> State {
        @inline(__always) get { states[position] }
        _modify {
            if changed.last != position { changed.append(position) }
            yield &states[position]
        }
    }

    /// Asks a state where it lies: the subscript copies it, which costs more than most questions.
    @inline(__always)
    mutating func withState<Answer>(at position: Int, _ question: (borrowing State) -> Answer)
        -> Answer
    {
        func lend(_ state: inout State) -> Answer { question(state) }
        return lend(&states[position])
    }

    /// Which states were changed since the last `due` or `next`.
    var justChanged: Set<Int> { Set(changed) }

    /// The positions of the states that are due, in their order.
    mutating func due(at now: Now) -> [Int] {
        update()
        return wakes.due(at: now)
    }

    /// The earliest wake-up of all states, by each clock.
    mutating func next() -> Wake {
        update()
        return wakes.earliest
    }

    /// How many states have problems, as of the last `next`.
    var problemCount: Int { troubled.count }

    /// The positions of the states with problems, in their order, as of the last `next`.
    var withProblems: [Int] { troubled.isEmpty ? [] : troubled.sorted() }

    private mutating func update() {
        for position in changed {
            let (wake, isTroubled) = withState(at: position) { ($0.wake, $0.isTroubled) }
            wakes.set(position, to: wake)
            if isTroubled {
                troubled.insert(position)
            } else if !troubled.isEmpty {
                troubled.remove(position)
            }
        }
        changed.removeAll(keepingCapacity: changed.count < 1024)
    }
}

/// The earliest of many wake-ups: in a tree each node is the earlier of the two below. A change costs its height.
private struct EarliestWake: Sendable {
    /// The root is at 1, the nodes below `node` at `2 * node` and the position after it.
    private var nodes: [Wake]
    /// The node of the first wake-up.
    private let first: Int

    /// This many wake-ups, all of them never.
    init(count: Int) {
        var first = 1
        while first < count { first *= 2 }
        self.first = first
        nodes = Array(repeating: Wake(), count: 2 * first)
    }

    var earliest: Wake { nodes[1] }

    mutating func set(_ position: Int, to wake: Wake) {
        var node = first + position
        guard nodes[node] != wake else { return }
        nodes[node] = wake
        while node > 1 {
            node /= 2
            var earlier = nodes[2 * node]
            earlier.include(nodes[2 * node + 1])
            if nodes[node] == earlier { return }
            nodes[node] = earlier
        }
    }

    /// The positions whose time has come: nodes below a node that is not due are skipped.
    func due(at now: Now) -> [Int] {
        guard nodes[1].hasCome(at: now) else { return [] }
        var found: [Int] = []
        var rest = [1]
        while let node = rest.popLast() {
            guard nodes[node].hasCome(at: now) else { continue }
            if node >= first {
                found.append(node - first)
            } else {
                rest += [2 * node + 1, 2 * node]
            }
        }
        return found
    }
}
