import CivilTime

/// What one switch has read of the answers of its source, and what became of the newest of them.
///
/// It knows its answers by their numbers. Which source they are of, and what the service makes of
/// them, is not its business.
struct SwitchState: Hashable, Sendable {
    /// Since when its first answer is waited for: the start, or the reload that brought it.
    private(set) var awaitedSince: Boottime
    /// What the flags in force say; nil before the first that it could read.
    private(set) var reading: Reading?
    /// The answer that `reading` is read from.
    private(set) var answer: AnswerReference?
    /// The number of a newer answer that takes force at the next start, or when it is asked for.
    private(set) var staged: Int?
    /// When the source last gave or confirmed the flags in force.
    private(set) var confirmation: Confirmation = .never
    private var newest = NewestAnswer.accepted
    /// The highest version of the flags that was accepted, where they have one.
    private var highestVersion: Int64?

    /// What became of the newest answer that came.
    private enum NewestAnswer: Hashable {
        /// It is in force or staged, or none has come yet. An offer leaves for each of the others.
        case accepted
        /// It would move the gate, and too few answers in a row agree yet. Left for `accepted` when
        /// enough do or when the source returns to the flags in force, for `refused` by a bad answer.
        case unconfirmed(Unconfirmed)
        /// It cannot be read, or its version is lower than one before. Left for `accepted` or
        /// `unconfirmed` by the next good answer.
        case refused(InvalidFlag)
    }

    init(awaitedSince moment: Boottime) {
        awaitedSince = moment
    }

    /// Whether the source gave or confirmed the flags in force since the start.
    var isAnswered: Bool { confirmation.moment != nil }

    /// Why the newest answer does not count; nil where it does, or may still.
    var problem: InvalidFlag? {
        if case .refused(let problem) = newest { problem } else { nil }
    }

    /// What the newest answers say that are not enough yet.
    var unconfirmed: Unconfirmed? {
        if case .unconfirmed(let unconfirmed) = newest { unconfirmed } else { nil }
    }

    /// The number of the newest answer it could read: the one in force, or the staged one.
    var newestReadable: Int? { staged ?? answer?.number }

    // MARK: - New answers

    /// What came of an offered answer.
    enum Offer {
        /// It does not count. `isNew` unless the answer before had the same problem.
        case refused(InvalidFlag, isNew: Bool)
        /// It would move the gate, and more answers have to agree.
        case unconfirmed
        /// It takes force at the next start.
        case staged
        /// It is in force, and `before` no more.
        case inForce(before: Reading?)
    }

    /// Takes a new answer in. `isForNextStart` stages it, unless there are no flags yet.
    /// `confirmations` is how many answers in a row have to agree before it moves the gate; nil where
    /// it does not move it.
    mutating func offer(
        _ answer: NumberedAnswer, readAs result: Result<Reading, InvalidFlag>,
        isForNextStart: Bool, confirmations: (gate: Gate, needed: Int)?, at now: Now
    ) -> Offer {
        let next: Reading
        switch result {
        case .failure(let problem):
            return .refused(problem, isNew: refuse(problem))
        case .success(let reading):
            if let problem = regression(in: reading) {
                return .refused(problem, isNew: refuse(problem))
            }
            next = reading
        }
        if isForNextStart, reading != nil {
            staged = answer.number
            raiseVersion(to: next)
            confirm(at: now)
            return .staged
        }
        if let (gate, needed) = confirmations {
            let count = unconfirmed?.gate == gate ? unconfirmed?.count ?? 0 : 0
            if count + 1 < needed {
                newest = .unconfirmed(Unconfirmed(gate: gate, count: count + 1, needed: needed))
                return .unconfirmed
            }
        }
        let before = reading
        putInForce(answer, next)
        confirm(at: now)
        return .inForce(before: before)
    }

    /// Puts a staged answer in force, as it was read now. Gives the flags that were in force before.
    mutating func activate(_ answer: NumberedAnswer, _ reading: Reading) -> Reading? {
        let before = self.reading
        putInForce(answer, reading)
        return before
    }

    /// Notes that the source has confirmed the newest answer, which is the one in force or staged.
    mutating func confirm(at now: Now) {
        confirmation = .now(now.boot)
        newest = .accepted
    }

    /// Keeps the flags in force, and notes why the newest answer does not count. True where the
    /// answer before had another problem, or none.
    mutating func refuse(_ problem: InvalidFlag) -> Bool {
        guard newest != .refused(problem) else { return false }
        newest = .refused(problem)
        return true
    }

    private mutating func putInForce(_ answer: NumberedAnswer, _ reading: Reading) {
        raiseVersion(to: reading)
        self.reading = reading
        self.answer = AnswerReference(answer)
        staged = nil
    }

    private mutating func raiseVersion(to reading: Reading) {
        highestVersion = reading.version ?? highestVersion
    }

    /// Why a reading is older than one that was accepted. Flags that had a version once must always
    /// have one: without it, new flags cannot be told from old ones.
    private func regression(in next: Reading) -> InvalidFlag? {
        guard let highest = highestVersion else { return nil }
        guard let version = next.version else { return .missing(key: "version") }
        guard version < highest else { return nil }
        return .wrongType(
            key: "version", expected: "\(highest) or more, as it was before", found: "\(version)")
    }

    // MARK: - Known answers

    /// Puts the newest of these answers in force that it can read, if there is one. The newest of all
    /// was last confirmed at `confirmed`, an older one until the next answer came.
    mutating func adopt(
        _ answers: some Sequence<NumberedAnswer>, confirmed: Confirmation, by format: Format,
        in zone: Zone
    ) {
        var isNewest = true
        for answer in answers {
            switch answer.read(by: format, in: zone) {
            case .success(let reading):
                self.reading = reading
                self.answer = AnswerReference(answer)
                if !answer.answer.isInherited { raiseVersion(to: reading) }
                let older = answer.answer.confirmedAt ?? answer.answer.fetchedAt
                confirmation = isNewest ? confirmed : .earlier(older)
                return
            case .failure(let problem):
                if case .accepted = newest { newest = .refused(problem) }
            }
            isNewest = false
        }
    }

    /// Notes that the address asked now gives the inherited answer too, so that its version counts.
    mutating func acceptAsOwn(_ answer: NumberedAnswer) {
        guard self.answer?.number == answer.number, let reading else { return }
        self.answer = AnswerReference(answer)
        raiseVersion(to: reading)
    }

    /// Keeps the flags in force although their source asks another address from now on: they are
    /// unanswered, as after a start. Only a switch without flags is waited for.
    mutating func inherit(at now: Now) {
        confirmation = confirmation.earlier(at: now)
        newest = .accepted
        highestVersion = nil
        if reading == nil { awaitedSince = now.boot }
    }

    /// Waits no longer than `known` does, for it has flags of the same source.
    mutating func wait(like known: SwitchState) {
        awaitedSince = known.awaitedSince
    }

    /// Lets this answer wait for the next start.
    mutating func stage(_ answer: Int?) {
        staged = answer
    }
}

/// The answer that a switch rests on: its number, and what the verdict tells of it.
struct AnswerReference: Hashable, Sendable {
    let number: Int
    let version: String?
    let fetchedAt: Instant

    init(_ answer: NumberedAnswer) {
        number = answer.number
        version = answer.answer.version
        fetchedAt = answer.answer.fetchedAt
    }
}

/// When a source last confirmed some flags.
enum Confirmation: Hashable, Sendable {
    case never
    /// Before this start. Only the wall clock can tell how long ago.
    case earlier(Instant)
    case now(Boottime)

    /// When that was, where it was since the start.
    var moment: Boottime? {
        if case .now(let moment) = self { moment } else { nil }
    }

    /// How long ago that was; zero for `never`.
    func age(at now: Now) -> Duration {
        switch self {
        case .never: .zero
        case .earlier(let instant): max(.zero, now.wall - instant)
        case .now(let moment): now.boot - moment
        }
    }

    /// When that was by the wall clock; nil for `never`.
    func instant(at now: Now) -> Instant? {
        switch self {
        case .never: nil
        case .earlier(let instant): instant
        case .now(let moment): now.wall - (now.boot - moment)
        }
    }

    /// The same confirmation, as after a start.
    func earlier(at now: Now) -> Confirmation {
        instant(at: now).map { .earlier($0) } ?? .never
    }
}
