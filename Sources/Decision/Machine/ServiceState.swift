import CivilTime

/// What the machine knows of one service.
struct ServiceState: Hashable, Sendable {
    let service: Service
    var switches: [SwitchState]
    /// What it runs, where that is known.
    var installed: Version?
    /// Its variant, where it has one, and its values: what is known of each.
    var remote: [HeldValue] = []
    /// When the first answer of any of its sources came since the start.
    var firstAnswerAt: Boottime?
    /// What was last published.
    var record: Record?
    /// When the gate last closed.
    var closedAt: Boottime?
    /// Whether the host guard keeps it open.
    var hold = Hold.none
    /// What its flags and its policy wanted when it was last decided, whatever an operator ordered; nil
    /// where that is not known.
    var wanted: Gate?
    /// The last verdict by which it was open that was no operator's order.
    var lastOpen: Verdict?
    /// Whether its flags say something else than when it was last decided, or its configuration does.
    var hasNews = false
    /// Whether its units may run since earlier in this boot.
    var isSameBoot: Bool
    /// When the state began that an earlier run left: what had come true by then stays true while the
    /// clock cannot be asked.
    var knownPast: Instant?
    /// Whether something changed since it was last decided.
    var isDue = true
    /// When time alone makes it due.
    var wake = Wake()
}

/// What the host guard makes of a service that closes.
enum Hold: Hashable, Sendable {
    case none
    /// Too many close for the same cause: it stays open until an operator confirms.
    case held
    /// An operator has confirmed: it closes as soon as it is decided.
    case confirmed
}

/// What the machine knows of one switch of a service.
struct SwitchState: Hashable, Sendable {
    /// Since when its first answer is waited for: the start, or the reload that brought it.
    var awaitedSince: Boottime
    var reading: Reading?
    /// The answer that was read, by its number.
    var answer: Int?
    /// A newer one that takes force at the next start, or when it is asked for.
    var staged: Int?
    /// What newer answers say that did not come often enough yet.
    var unconfirmed: Unconfirmed?
    /// The highest edition of the flags that was accepted, where they count them.
    var highestVersion: Int64?
    var confirmation: Confirmation = .never
    /// Whether `reading` was given or confirmed since the start.
    var isAnswered = false
    /// Why the newest answer could not be read.
    var problem: InvalidFlag?
}
