import CivilTime
import JSON

/// The state of one source: the time of its next fetch, its outcomes and its answers.
struct SourceState: Sendable {
    private(set) var plan: SourcePlan
    /// The answers on which a switch or a value rests, newest first. More than one answer only
    /// while a switch cannot read the newest, or flags are staged.
    private(set) var answers: [NumberedAnswer] = []
    /// When the source last gave or confirmed the newest answer.
    private(set) var confirmation = Confirmation.never
    /// When it last gave or confirmed the other answers, by their numbers.
    private var earlier: [Int: Confirmation] = [:]
    /// What the services that read it need, as of the last change of a service.
    var readership = Readership()
    /// The time that the last good answer has been in caches on the way. Of signed flags it is zero: they have a
    /// version and an end, which no cache can change.
    private(set) var ageOnArrival = Duration.zero
    var documents: DocumentTrust
    /// Which of its mirrors is asked next, and what each gave last; nil without mirrors.
    var mirrors: Mirrors?
    var problems = SourceProblems()
    /// Since when it answers; nil before its first answer and while it fails.
    private(set) var answersSince: Boottime?
    var fetches: FetchCounts
    /// The wait between two polls that its flags or its server ask for at present; nil for the interval.
    private var pace: Duration?
    var name: SourceName { plan.name }

    private var schedule: Schedule
    private var activity: Activity
    private var numbered = 0

    private enum Activity: Hashable {
        /// No fetch is in flight. Left for `fetching` at `until`; a hint makes the fetch due at once.
        case waiting(until: Boottime)
        /// A fetch is in flight, until `limit` at the latest. Left for `waiting` when it ends, or when a reload
        /// replaces the object that fetches. `isHinted`: a hint came meanwhile, so the source is fetched again at once.
        case fetching(isHinted: Bool, limit: Boottime)
    }

    /// A source without answers that is due at once.
    init(plan: SourcePlan, at now: Now) {
        self.plan = plan
        documents = DocumentTrust(for: plan.audience)
        mirrors = Mirrors(of: plan.mirrors)
        schedule = Schedule(interval: plan.interval, maxBackoff: plan.maxBackoff)
        activity = .waiting(until: now.boot)
        fetches = FetchCounts(since: now.boot)
        problems.set(.pace, to: [plan.paceWarning].compactMap(\.self))
    }

    /// The time between two polls at present.
    var interval: Duration { max(plan.interval, pace ?? plan.interval) }

    /// Whether it has answered since the start, and its last fetch was good.
    var isUp: Bool { problems.failure == nil && confirmation.moment != nil }

    // MARK: - Fetches

    /// When the next fetch is due; nil while one is in flight.
    var nextFetch: Boottime? { if case .waiting(let moment) = activity { moment } else { nil } }

    /// Begins a fetch if it is due. True if it is in flight now.
    mutating func startFetchIfDue(at now: Now) -> Bool {
        guard case .waiting(let moment) = activity, moment <= now.boot else { return false }
        activity = .fetching(isHinted: false, limit: now.boot + plan.timeout)
        return true
    }

    /// Makes a fetch due at once, or as soon as the fetch in flight ends.
    mutating func requestFetch(at now: Now) {
        mirrors?.askAll()
        switch activity {
        case .fetching(_, let limit): activity = .fetching(isHinted: true, limit: limit)
        case .waiting: activity = .waiting(until: now.boot)
        }
    }

    /// The fetch in flight was good. `scheduleNextFetch` has to follow.
    mutating func fetchSucceeded(at now: Now) {
        answersSince = answersSince ?? now.boot
        problems.clearFailure()
        mirrors?.fetchSucceeded()
    }

    /// Ends a good fetch. The next one is due after the interval, or after `pace` in its place.
    mutating func scheduleNextFetch(pace: Duration?, at now: Now, using random: inout SeededRandom)
    {
        self.pace = pace
        waitUnlessHinted(schedule.succeeded(pace: pace, using: &random), at: now)
    }

    /// Ends a failed fetch.
    mutating func fetchFailed(
        _ failure: Failure, at now: Now, using random: inout SeededRandom
    ) {
        let wait = schedule.failed(failure, using: &random)
        problems.setFailure(failure, at: now.boot)
        answersSince = nil
        fetches.count(failure)
        if failure.retryAfter != nil {
            // Retry-After counts even if a hint came meanwhile.
            activity = .waiting(until: now.boot + wait)
        } else {
            waitUnlessHinted(wait, at: now)
        }
    }

    /// Whether the fetch in flight is inside its time limit, or the next one has a wake-up ahead.
    func isProgressing(at now: Now, wakeUp: Boottime?, tolerance: Duration) -> Bool {
        switch activity {
        case .fetching(_, let limit): return now.boot <= limit + tolerance
        case .waiting(let moment):
            guard let wakeUp, wakeUp <= moment else { return false }
            return now.boot <= moment + tolerance
        }
    }

    private mutating func waitUnlessHinted(_ wait: Duration, at now: Now) {
        var wait = wait
        if let mirrors, case .fetching(_, let limit) = activity {
            wait = mirrors.wait(wait, after: now.boot - limit + plan.timeout, at: now.boot)
        }
        let isHinted = if case .fetching(isHinted: true, _) = activity { true } else { false }
        activity = .waiting(until: isHinted ? now.boot : now.boot + wait)
    }

    // MARK: - Answers

    /// Numbers a new answer.
    mutating func number(_ answer: Answer) -> NumberedAnswer {
        numbered += 1
        var numbered = NumberedAnswer(number: numbered, answer: answer, of: plan)
        numbered.hasVersionJump = documents.hasVersionJump(to: answer)
        return numbered
    }

    /// The newest of its answers, as signed by those who count now; nil leaves its authors.
    func newest(signedBy authors: [String]?) -> NumberedAnswer {
        var newest = answers[0]
        if let authors, let signed = newest.answer.signed {
            newest.answer.signed = SignedAnswer(
                signed.order, by: authors, signatures: signed.signatures)
        }
        return newest
    }

    /// Takes the validators of an answer that repeats the newest answer. True if it does. The validators are not
    /// stored: an ETag that changes at every poll must not cause a write at every poll. Where the newest answer is
    /// not proved, other signatures are new.
    mutating func updateValidators(ifRepeating answer: Answer) -> Bool {
        guard let newest = answers.first?.answer, answer.repeats(newest),
            documents.isProved(newest) || answer.signed?.signatures == newest.signed?.signatures
        else { return false }
        answers[0].answer.validators = answer.validators
        return true
    }

    /// Makes the newest answer this source's own, if it was inherited. Returns it then, else nil.
    mutating func makeNewestOwn(_ answer: Answer) -> NumberedAnswer? {
        guard answers[0].answer.isInherited else { return nil }
        var own = answer
        if let signed = answers[0].answer.signed {
            // Its keys counted when it came, and perhaps do not any more.
            (own.signed, own.fetchedAt) = (signed, answers[0].answer.fetchedAt)
        }
        answers[0].answer = own
        return answers[0]
    }

    /// Puts a new answer before the others. Returns notices about the keys with a default that it lacks and the one
    /// before held. A switch that needs a key without a default reports an invalid flag.
    mutating func insert(_ answer: NumberedAnswer, at now: Now) -> [LogMessage] {
        let before = answers.first?.answer
        if before != nil {
            answers[0].answer.confirmedAt = confirmation.instant(at: now)
            earlier[answers[0].number] = confirmation
        }
        answers.insert(answer, at: 0)
        confirmAnswer(at: now)
        // A restart must not take its arrival for its confirmation.
        if ageOnArrival > .zero {
            answers[0].answer.confirmedAt = now.wall - ageOnArrival
        }
        guard let before, !before.isInherited, answer.answer.unreadable.unlisted == nil else {
            return []
        }
        return plan.defaults.map(\.key)
            .filter { before.flags[$0] != nil && answer.answer.flags[$0] == nil }
            .map { .flagVanished(name, key: $0) }
    }

    /// A good answer has been in caches on the way for `age`.
    mutating func ageArrived(_ age: Duration) { ageOnArrival = plan.isSigned ? .zero : age }

    /// Whether its last good answer was from a cache.
    var isFromCache: Bool { problems.has(.cached) }

    /// When it last gave or confirmed the answer of this number; `never` for an answer that it has not.
    func confirmation(of number: Int?) -> Confirmation {
        guard let number else { return .never }
        return number == answers.first?.number ? confirmation : earlier[number] ?? .never
    }

    /// Whether its next confirmation changes nothing for the services that read it.
    func isSettled(at now: Now) -> Bool {
        guard readership.restsOnNewest, confirmation.moment != nil else { return false }
        return readership.staleAfter.map { confirmation.age(at: now) < $0 } ?? true
    }

    /// Notes that the source has confirmed the newest answer.
    mutating func confirmAnswer(at now: Now) { confirmation.renew(at: now, ageOnArrival) }

    /// Restores the answers and the highest version that an earlier run stored.
    mutating func restore(_ stored: Memory.StoredFlags) {
        documents.restore(stored.accepted, stored.answers, disproved: stored.disproved)
        guard !stored.answers.isEmpty else { return }
        answers = stored.answers.map { number($0) }
        confirmation = .earlier(stored.confirmedAt)
        for answer in answers.dropFirst() { earlier[answer.number] = answer.answer.lastConfirmed }
    }

    /// Drops every answer, by an operator's order. The highest version of signed documents stays, unless
    /// the order says otherwise: nobody may roll back by a plain `forget`.
    mutating func forget(isVersionDropped: Bool, at now: Now) {
        // The fetch of a document whose version is being stored has ended.
        if documents.forget(isVersionDropped: isVersionDropped) {
            activity = .waiting(until: now.boot)
        }
        (answers, earlier) = ([], [:])
        mirrors = Mirrors(of: plan.mirrors)
        confirmation = .never
        problems.clear(.unproved, .versionJump)
    }

    /// Sets which switches rest on which signed answer, by its number. True if that is new.
    mutating func updateSwitches(_ readers: [Int: [SwitchID]]) -> Bool {
        let before = answers
        for position in answers.indices where answers[position].answer.signed != nil {
            answers[position].answer.switches = readers[answers[position].number] ?? []
        }
        return zip(before, answers).contains { $0.answer.switches != $1.answer.switches }
    }

    /// Drops the answers on which no switch and no value rests.
    mutating func dropAnswers(except used: Set<Int>) {
        answers.removeAll { !used.contains($0.number) }
        earlier = earlier.filter { used.contains($0.key) }
    }

    // MARK: - Reload

    /// The same source under another plan.
    func reconfigured(_ next: SourcePlan, _ replacement: Replacement?, at now: Now) -> SourceChange
    {
        var state = self
        if replacement == .otherAddress {
            // Failures, schedule and warnings belong to the earlier address; the flags alone stay.
            state = SourceState(plan: next, at: now)
            state.numbered = numbered
            state.documents = documents
            // It came from the earlier address.
            state.documents.dropAwaiting()
        }
        if replacement == .otherAddress || next.audience != plan.audience {
            state.confirmation = confirmation.earlier(at: now)
            state.earlier = earlier.mapValues { $0.earlier(at: now) }
        }
        state.documents.setAudience(next.audience)
        if next != plan || replacement != nil {
            state.mirrors = Mirrors(of: next.mirrors)
        }
        state.plan = next
        state.schedule.interval = next.interval
        state.schedule.maxBackoff = next.maxBackoff
        state.pace = nil
        state.problems.set(.pace, to: [next.paceWarning].compactMap(\.self))
        state.answers = answers.map { known in
            var answer = known.answer
            if replacement == .otherAddress { answer.inherit() }
            return NumberedAnswer(number: known.number, answer: answer, of: next)
        }
        if next.interval != plan.interval { state.fetch(noLaterThan: now.boot + next.interval) }
        if replacement == .sameAddress {
            // Another object fetches it: no fetch is in flight, and one is due at once.
            state.problems.clear(.unwatched, .unreadableSigners, .cached)
            state.documents.dropAwaiting()
            if case .fetching = state.activity { state.activity = .waiting(until: now.boot) }
            state.fetch(noLaterThan: now.boot)
        }
        return SourceChange(
            source: state, answers: state.answers.map { AnswerReader($0) },
            hasOtherAddress: replacement == .otherAddress,
            hasOtherDefaults: next.defaults != plan.defaults,
            hasOtherAudience: next.audience != plan.audience)
    }

    /// Makes a fetch due at `moment` at the latest, unless a Retry-After is in force.
    private mutating func fetch(noLaterThan moment: Boottime) {
        guard case .waiting(let due) = activity, problems.failure?.retryAfter == nil else { return }
        activity = .waiting(until: min(due, moment))
    }
}

/// What the services that read a source need of it.
struct Readership: Hashable {
    /// Whether each switch has read the newest answer without a problem.
    var hasReadNewest = false
    /// Whether each switch rests on the newest answer, which counts for it.
    var restsOnNewest = false
    /// The shortest wait between two polls that a switch asks for; nil without switches.
    var pace: Duration?
    /// The shortest age at which flags become stale; nil if none do.
    var staleAfter: Duration?
}
