import CivilTime

/// At which times newer flags of a source would have another gate than those in force.
///
/// It depends on both readings, on the policy, and on the steps of a rollout that reach this host, and not on the
/// present time. So it is found once for all services that have these in common, and it stays true.
struct GateMoves: Hashable, Sendable {
    /// What it depends on beside the newer flags.
    struct Key: Hashable {
        let format: Format
        let zone: Zone
        let policy: Policy
        /// The number of the answer in force; nil without flags.
        let before: Int?
        /// When the steps of both orders reach this host; nil if none does, or without steps.
        let arrivals: [Instant?]
        let installed: Version?
    }

    /// The flags in force; nil without flags.
    let old: Course?
    let new: Course
    /// The ends, windows and steps of both, and when they become stale, in order.
    private let times: [Instant]
    /// For each of the times: the gates that newer flags want then or later, where those in force want the other.
    private let moves: [Set<Gate>]

    /// Compares both at each of their times, by `gates`: the gates for each version that may be installed.
    init(_ old: Course?, _ new: Course, _ gates: (Course?, Instant, _ successor: Course?) -> [Gate])
    {
        self.old = old
        self.new = new
        let newTimes = new.times
        // Flags in force that have expired count until the newer ones have expired too.
        let oldTimes = (old?.times ?? []).union(new.expires.map { [$0] } ?? [])
        let times = newTimes.union(oldTimes).sorted()
        var (before, after): ([Gate], [Gate]) = ([], [])
        var moves: [Set<Gate>] = []
        for time in times {
            // Between its own times nothing changes in either.
            if before.isEmpty || oldTimes.contains(time) { before = gates(old, time, new) }
            if after.isEmpty || newTimes.contains(time) { after = gates(new, time, nil) }
            moves.append(Set(zip(before, after).filter { $0 != $1 }.map(\.1)))
        }
        for position in moves.indices.dropLast().reversed() {
            moves[position].formUnion(moves[position + 1])
        }
        self.times = times
        self.moves = moves
    }

    /// The moves after a time.
    func moves(after time: Instant) -> Set<Gate> {
        let passed = times.countOfFirst { $0 <= time }
        return passed < moves.count ? moves[passed] : []
    }
}

/// The flags of a reading at any time, on one host. Overlapping windows are joined, and of the steps of a rollout the
/// one is left that reaches the host, so that many times cost little.
struct Course: Hashable, Sendable {
    private var withoutWindows: Reading
    private var windows: [Window] = []

    /// The course of a reading whose rollout reaches the host at `arrival`; nil if it never does.
    init(_ reading: Reading, arrival: Instant?) {
        withoutWindows = reading
        withoutWindows.claims = []
        if reading.rollout != nil {
            withoutWindows.rollout = Rollout(
                steps: arrival.map { [Rollout.Step(at: $0, reach: Slot.count)] } ?? [])
        }
        var all: [Window] = []
        for claim in reading.claims {
            if case .window(let window) = claim {
                all.append(window)
            } else {
                withoutWindows.claims.append(claim)
            }
        }
        for window in all.sorted(by: { $0.from < $1.from }) {
            if let last = windows.last, window.from <= last.until {
                windows[windows.count - 1] = Window(
                    from: last.from, until: max(last.until, window.until))
            } else {
                windows.append(Window(from: window.from, until: window.until))
            }
        }
    }

    /// When the flags become stale; nil if they do not.
    var expires: Instant? { withoutWindows.expires }

    var minimumVersions: [Version] {
        withoutWindows.claims.compactMap {
            if case .minimumVersion(let version) = $0 { version } else { nil }
        }
    }

    /// The times at which time alone may move the gate.
    fileprivate var times: Set<Instant> {
        var times: Set<Instant> = []
        withoutWindows.forEachGateEdge { times.insert($0) }
        for window in windows { times.formUnion([window.from, window.until]) }
        if let expires { times.insert(expires) }
        return times
    }

    /// The reading with only the window that is open at `time`.
    func reading(at time: Instant) -> Reading {
        var reading = withoutWindows
        if let window = window(at: time) { reading.claims.append(.window(window)) }
        return reading
    }

    /// The flags at `time`, as if just confirmed, by the host's clock. With a `successor`, their `expires` counts only
    /// once the successor has expired too: to stay fresh for longer moves no gate.
    func evidence(
        at time: Instant, of source: SourceName, comparedWith successor: Course? = nil
    ) -> Evidence {
        var reading = reading(at: time)
        if let successor, successor.expires.map({ $0 > time }) ?? true { reading.expires = nil }
        return Evidence(source: source, reading: reading)
    }

    /// The window that is open at `time`; nil without one.
    private func window(at time: Instant) -> Window? {
        let begun = windows.countOfFirst { $0.from <= time }
        return begun > 0 && windows[begun - 1].contains(time) ? windows[begun - 1] : nil
    }
}
