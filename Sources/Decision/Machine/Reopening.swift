import CivilTime

/// When a gate that closed may open again: no sooner than `min_closed` after it closed, and after this host's
/// part of `open_spread`, so that not all hosts come back in the same second.
struct Reopening: Hashable, Sendable {
    /// When the gate last closed; nil while it is open.
    private var closedAt: Deadline?
    /// When it is this host's turn; nil unless flags have opened the gate and it waits.
    private(set) var turn: Deadline?

    /// Why a gate stays closed that flags have opened, and until when.
    enum Hold {
        case minClosed(until: Deadline)
        case turn(Deadline)

        /// When the gate opens.
        var end: Boottime {
            switch self {
            case .minClosed(let until): until.boot
            case .turn(let turn): turn.boot
            }
        }
    }

    /// A gate that is open or undecided.
    init() {}

    /// The gate of an earlier run in this boot.
    init(_ entry: Ledger.Entry, isClosed: Bool, at now: Now) {
        if isClosed {
            closedAt = Deadline(now.boot - max(.zero, now.wall - entry.since), at: now)
        }
        turn = entry.turn.map { Deadline($0, at: now) }
    }

    /// The gate is open or closed now, or undecided.
    mutating func gatePublished(_ gate: Gate?, at now: Now) {
        switch gate {
        case .closed: closedAt = closedAt ?? Deadline(now.boot, at: now)
        case .open: self = Reopening()
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
        let least = closedAt.map { $0 + minClosed }
        if let turn, now.boot < turn.boot, turn.boot >= least?.boot ?? turn.boot {
            return .turn(turn)
        }
        return least.flatMap { now.boot < $0.boot ? .minClosed(until: $0) : nil }
    }
}

/// Until when the units of a closed gate may run on. A drain begins when the gate closes. Nothing begins it anew while
/// the gate is closed: neither another closing nor a restart.
struct Draining: Hashable, Sendable {
    /// The end of the drain, also once it has passed; nil if the gate is open, or its units stopped at once.
    private(set) var end: Boottime?

    /// No drain.
    init() {}

    /// The drain of an earlier run in this boot.
    init(_ entry: Ledger.Entry) { end = entry.drainsUntil }

    /// Begins a drain of this length if the verdict closes a gate that was open, and ends it if the verdict opens the
    /// gate, or closes it in an emergency. A gate that nobody had decided has no units to drain. While nothing is
    /// decided a drain goes on. A reload with a shorter drain shortens it.
    mutating func verdictChanged(
        _ verdict: Verdict, from gate: Gate?, length: Duration, at now: Now
    ) {
        guard verdict.gate != nil else { return }
        guard verdict.gate == .closed, !verdict.isUrgent, length > .zero else { return end = nil }
        let longest = now.boot + length
        if gate == .open || end.map({ $0 > longest }) ?? false { end = longest }
    }
}

/// A moment on both clocks: the boot clock measures and is stored, and the wall clock is shown.
struct Deadline: Hashable, Sendable {
    let wall: Instant
    let boot: Boottime

    /// This moment of the boot clock.
    init(_ boot: Boottime, at now: Now) {
        self.boot = boot
        wall = now.wall + (boot - now.boot)
    }

    private init(wall: Instant, boot: Boottime) { (self.wall, self.boot) = (wall, boot) }

    /// A moment so much later.
    static func + (moment: Deadline, time: Duration) -> Deadline {
        Deadline(wall: moment.wall + time, boot: moment.boot + time)
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

    /// Nothing is known yet.
    init() {}

    /// The gate of an earlier run.
    init(_ gate: Gate?, isOfThisBoot: Bool) {
        (last, atStart) = (gate, gate)
        inBoot = isOfThisBoot ? gate : nil
    }

    /// Flags and policy want this gate now; nil while they are not known. `isWaiting`: the gate waits
    /// to open.
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
