import CivilTime

/// When a gate that closed may open again: no sooner than `min_closed` after it closed, and after this host's
/// part of `open_spread`, so that not all hosts come back in the same second.
struct Reopening: Hashable, Sendable {
    /// When the gate last closed; nil while it is open.
    private var closedAt: Deadline?
    /// When it last opened; nil before the first time.
    private var openedAt: Deadline?
    /// When it is this host's turn; nil unless flags have opened the gate and it waits.
    private(set) var turn: Deadline?

    /// Until when a gate stays closed that flags have opened, and why.
    struct Hold {
        let end: Deadline
        /// Whether it is not this host's turn yet; else `min_closed` is not over.
        let awaitsTurn: Bool
    }

    /// A gate that is open or undecided.
    init() {}

    /// The gate of an earlier run in this boot.
    init(_ entry: Ledger.Entry, isClosed: Bool, at now: Now) {
        if isClosed { closedAt = Deadline(now.boot - max(.zero, now.wall - entry.since), at: now) }
        turn = entry.turn.map { Deadline($0, at: now) }
    }

    /// The gate is open or closed now, or undecided. An order that has closed it is no change of mind of the flags.
    mutating func gatePublished(_ gate: Gate?, isByOrder: Bool, at now: Now) {
        switch gate {
        case .closed:
            closedAt = closedAt ?? Deadline(now.boot, at: now)
            if isByOrder { openedAt = nil }
        case .open:
            let before = closedAt == nil ? openedAt : nil
            self = Reopening()
            openedAt = before ?? Deadline(now.boot, at: now)
        case nil: break
        }
    }

    /// Begins the wait if flags open the gate with this decision. Ends it if flags close the gate, or
    /// an operator opens or closes it. While nothing is decided the wait goes on.
    ///
    /// `begin` is the start of the wait; nil if no wait begins now. A wait is never longer than the
    /// part of the spread, which a reload may have shortened.
    mutating func updateTurn(
        for proposal: Verdict, since begin: Boottime?, part: Duration, at now: Now
    ) {
        guard let gate = proposal.gate, proposal.reason != .starting else { return }
        if gate == .closed || proposal.override != nil || part == .zero {
            turn = nil
        } else if let known = turn {
            if known.boot > now.boot + part { turn = Deadline(now.boot + part, at: now) }
        } else if let begin, begin + part > now.boot {
            turn = Deadline(begin + part, at: now)
        }
    }

    /// What keeps the gate closed at `now`; nil if nothing does. A turn outlasts `min_closed` where it ends later.
    func hold(minClosed: Duration, at now: Now) -> Hold? {
        let closing = closedAt.map { $0 + minClosed }
        // Two openings are a share apart.
        let opening = closedAt == nil ? nil : openedAt.map { $0 + ChangeShare.period(minClosed) }
        let least = [closing, opening].compactMap(\.self).max { $0.boot < $1.boot }
        if let turn, now.boot < turn.boot, turn.boot >= least?.boot ?? turn.boot {
            return Hold(end: turn, awaitsTurn: true)
        }
        return least.flatMap { now.boot < $0.boot ? Hold(end: $0, awaitsTurn: false) : nil }
    }
}

extension ServiceState {
    /// Until when the units of its closed gate may run on after a verdict. A drain begins when the gate closes. Nothing
    /// begins it anew while the gate is closed: neither another closing nor a restart.
    ///
    /// A verdict that opens the gate, or closes it in an emergency, ends the drain. A gate that nobody had decided has
    /// no units to drain. While nothing is decided a drain goes on. A reload with a shorter drain shortens it.
    func drainEnd(after verdict: Verdict, at now: Now) -> Boottime? {
        guard let gate = verdict.gate else { return drainsUntil }
        guard gate == .closed, !verdict.isUrgent, service.policy.drain > .zero else { return nil }
        let longest = now.boot + service.policy.drain
        return gateBefore == .open ? longest : drainsUntil.map { min($0, longest) }
    }
}

/// A moment on both clocks: the boot clock measures and is stored, and the wall clock is shown.
struct Deadline: Hashable, Sendable {
    let wall: Instant
    let boot: Boottime

    /// A moment so much later.
    static func + (moment: Deadline, time: Duration) -> Deadline {
        Deadline(wall: moment.wall + time, boot: moment.boot + time)
    }
}

extension Deadline {
    /// This moment of the boot clock.
    init(_ boot: Boottime, at now: Now) {
        self.init(wall: now.wall + (boot - now.boot), boot: boot)
    }
}

/// The gate that the flags and the policy of a service want, without overrides.
struct WantedGate: Hashable, Sendable {
    /// The gate that they wanted last; nil if unknown. While a gate waits to open it is closed in fact, and counts as
    /// closed: the host guard has nothing to hold open if they close it again.
    private(set) var last: Gate?
    /// The gate that they wanted at the last decision of this boot, also while it waits; nil if unknown.
    private(set) var inBoot: Gate?
    /// The gate that they wanted at the end of the previous run, in any boot; nil if unknown.
    private(set) var atStart: Gate?

    /// The gate of an earlier run; nil if unknown.
    init(_ gate: Gate? = nil, isOfThisBoot: Bool = false) {
        (last, atStart) = (gate, gate)
        inBoot = isOfThisBoot ? gate : nil
    }

    /// Flags and policy want this gate now; nil while they are unknown. `isWaiting`: the gate waits to open.
    mutating func update(_ gate: Gate?, isWaiting: Bool) {
        if !isWaiting {
            last = gate ?? last
        } else if inBoot == nil {
            last = .closed
        }
        inBoot = gate ?? inBoot
    }
}

extension HostPlace {
    /// The part of a service's spread that this host waits.
    func part(of spread: Duration, for service: ServiceName) -> Duration {
        guard spread > .zero else { return .zero }
        return spread * slot(seed: "\(service)/open").number / Slot.count
    }
}
