import CivilTime
import Decision

/// What one service and its gate have to be like: what flags and policy ask for, with the operator's orders, the wait
/// of `open_spread` and the drain. It counts in times of the wall clock, which never steps in its world.
struct StepsOracle {
    struct Order {
        let state: State
        /// Nil until somebody releases it.
        let until: Instant?
        let isUrgent: Bool
    }

    /// What holds now. A restart in the same boot takes nothing of it back.
    struct Present {
        /// Undecided before the first decision of a boot.
        var state = State.undecided
        var daysLeft: Int?
        /// When it is this host's turn to open the gate; nil unless it waits.
        var turn: Instant?
        /// When the units stop that may run on behind the closed gate; nil without a drain.
        var drain: Instant?
        /// Whether an order says what holds: after it the gate opens at the host's turn.
        var isOrdered = false
        /// Whether flags and policy ask for a closed gate, also behind an order.
        var areFlagsClosed = false
    }

    private(set) var present = Present()
    /// Whether flags, the policy or an order say what holds; else it stays as it was.
    private(set) var isDecided = false
    private(set) var areUnitsUp = false
    private var flags: Oracle
    private let policy: Policy
    /// This host's part of `open_spread`.
    private let share: Duration
    private var bootedAt: Instant
    private var order: Order?
    /// What the disk has for the next daemon.
    private var stored = Present()

    /// A service on a host with these slots: that of its spread, and those of its rollouts.
    init(_ service: Service, slot: Int, rollouts: [Int], at start: Instant, bootedAt: Instant) {
        self.bootedAt = bootedAt
        policy = service.policy
        flags = Oracle(slots: rollouts, policy: policy, zone: service.zone, at: start)
        share = .microseconds(policy.openSpread.microseconds * Int64(slot) / 1_000_000)
    }

    // MARK: What happens

    /// A source gives an edition, or confirms it. Returns whether that may change anything at once.
    mutating func answered(
        _ edition: Int, _ saying: Edition.Saying, of source: Int, at time: Instant
    ) -> Bool {
        flags.answered(edition, saying, of: source, at: time)
    }

    mutating func wake(at time: Instant) { flags.wake(at: time) }

    mutating func publish(_ order: Order?) { self.order = order }

    /// Whether an operator may order what is for an open gate alone.
    var mayDrill: Bool { order == nil && policy.gate(of: present.state) == .open }

    mutating func store() { stored = present }

    /// A new daemon has started with what the disk has. `bootedAt`: when the host has booted before; nil if it has not.
    mutating func restart(
        at time: Instant, bootedAt: Instant?, _ order: Order?, _ received: [Oracle.Received?]
    ) {
        if let bootedAt {
            (stored, areUnitsUp) = (Present(), false)
            self.bootedAt = bootedAt
        }
        present = stored
        self.order = order
        flags.restart(
            at: time, isFirstOfBoot: present.state == .undecided,
            isClosed: present.isOrdered
                ? present.areFlagsClosed : policy.gate(of: present.state) == .closed, received)
    }

    // MARK: What has to be true

    /// Brings the present up to date, and returns what has happened by that.
    mutating func check(at time: Instant) -> [String] {
        let (before, wasClosed) = (present, flags.isClosed)
        let right = flags.verdict(at: time)
        if let order, let end = order.until, end <= time,
            policy.gate(of: order.state) == .open || !flags.holdsOrders(at: time)
        {
            self.order = nil
        }
        isDecided = order != nil || right != nil
        defer { present.areFlagsClosed = flags.isClosed }
        if let order {
            present.turn = nil
            present.isOrdered = true
            enter(order.state, isUrgent: order.isUrgent || right?.isUrgent ?? false, at: time)
        } else if let right {
            follow(right, wasClosed: wasClosed, at: time)
        }
        if let drain = present.drain, time >= drain { areUnitsUp = false }
        return events(since: before, right, at: time)
    }

    private mutating func follow(_ right: Oracle.Right, wasClosed: Bool, at time: Instant) {
        defer { present.isOrdered = false }
        guard policy.gate(of: right.state) == .open else {
            present.turn = nil
            enter(right.state, isUrgent: right.isUrgent, at: time)
            return
        }
        let begin: Instant? =
            switch policy.gate(of: present.state) {
            case .open: nil
            case .closed: wasClosed || present.isOrdered ? time : nil
            case nil: policy.spreadsAtBoot ? bootedAt : nil
            }
        if let begin, present.turn == nil, begin + share > time { present.turn = begin + share }
        if let turn = present.turn, time < turn {
            // It stays as it was. Before a boot it may have run.
            if present.state == .undecided { enter(.maintenance, isUrgent: false, at: time) }
        } else {
            present.turn = nil
            enter(right.state, isUrgent: false, at: time)
            present.daysLeft = right.daysLeft
        }
    }

    private mutating func enter(_ state: State, isUrgent: Bool, at time: Instant) {
        let wasOpen = policy.gate(of: present.state) == .open
        present.state = state
        present.daysLeft = nil
        if policy.gate(of: state) == .open {
            present.drain = nil
            areUnitsUp = true
        } else if isUrgent || policy.drain == .zero {
            present.drain = nil
            areUnitsUp = false
        } else if wasOpen {
            present.drain = time + policy.drain
        }
    }

    /// When time alone next changes what has to be true.
    func nextEdge(after time: Instant) -> Instant {
        [order?.until, order == nil ? nil : flags.endOfFirstTimeout, present.turn, present.drain]
            .compactMap(\.self).filter { $0 > time }
            .reduce(flags.nextEdge(after: time), min)
    }

    // MARK: What it was like

    func isInStep(at time: Instant) -> Bool {
        present.turn != nil || present.drain.map { time < $0 } ?? false
    }

    /// The steps that this look has seen, for the chronicle.
    private func events(
        since before: Present, _ right: Oracle.Right?, at time: Instant
    ) -> [String] {
        var events: [String] = []
        if before.turn == nil, present.turn != nil { events.append("wait") }
        if let turn = before.turn, time < turn, present.turn == nil {
            let isOpen = policy.gate(of: present.state) == .open
            events.append(isOpen ? "order during a wait" : "closing during a wait")
        }
        if before.drain == nil, present.drain != nil { events.append("drain") }
        if let drain = before.drain, time < drain, present.drain == nil {
            let isOpen = policy.gate(of: present.state) == .open
            events.append(isOpen ? "opening during a drain" : "emergency during a drain")
        }
        if before.drain == nil, present.drain == nil, policy.drain > .zero,
            policy.gate(of: before.state) == .open, policy.gate(of: present.state) == .closed
        {
            events.append("closing without a drain")
        }
        return events
    }
}
