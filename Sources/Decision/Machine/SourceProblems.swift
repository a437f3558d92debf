import CivilTime

/// What is wrong with a source: its last fetch failed, it cannot be watched, there are warnings about it
/// and its flags. Each is told once while it lasts.
struct SourceProblems: Hashable, Sendable {
    /// Why the last fetch failed; nil after a good one.
    private(set) var failure: Failure?
    /// When the first of the fetches failed that have failed in a row.
    private var failingSince: Instant?
    /// Why changes are seen at polls only; nil if the source is watched.
    private var unwatched: Fact?
    /// Why its list of signers cannot be used; nil if it can.
    private var unreadableSigners: Fact?
    /// The present warnings about the source and its flags.
    private var warnings: [Fact] = []
    /// Why flags in force are unproved.
    private var disproofs: [Fact] = []
    /// The present jumps of versions in its flags.
    private var versionJumps: [VersionJump: Instant] = [:]

    /// A problem since when.
    struct Fact: Hashable {
        let kind: Kind
        let text: String
        let since: Instant
    }

    /// The kinds of problems of a source.
    enum Kind: Hashable {
        case failed, unreadableSigners, unwatched, unproved, warning
    }

    /// A problem that was not told yet.
    enum NewProblem {
        case unwatched(String)
        case warned(String)
    }

    /// Whether nothing is wrong.
    var isEmpty: Bool {
        failure == nil && unreadableSigners == nil && unwatched == nil && warnings.isEmpty
            && versionJumps.isEmpty && disproofs.isEmpty
    }

    /// How many problems there are.
    var count: Int {
        (failure == nil ? 0 : 1) + (unreadableSigners == nil ? 0 : 1) + (unwatched == nil ? 0 : 1)
            + warnings.count + disproofs.count + versionJumps.count
    }

    /// All problems, the worst first.
    var all: [Fact] {
        let failed = failure.flatMap { failure in
            failingSince.map { Fact(kind: .failed, text: failure.detail, since: $0) }
        }
        return [failed, unreadableSigners, unwatched].compactMap(\.self) + disproofs
            + warnings.sorted { $0.text < $1.text } + jumps
    }

    /// The present warnings about its flags, each a clause.
    var presentWarnings: [String] {
        disproofs.map(\.text) + warnings.map(\.text).sorted() + jumps.map(\.text)
    }

    private var jumps: [Fact] {
        versionJumps.map { Fact(kind: .warning, text: $0.key.warning(), since: $0.value) }
            .sorted { $0.text < $1.text }
    }

    // MARK: - Changes

    /// A fetch has failed.
    mutating func setFailure(_ failure: Failure, at now: Instant) {
        if self.failure == nil { failingSince = now }
        self.failure = failure
    }

    /// Clears the failure after a good fetch. True if the fetch before had failed.
    mutating func clearFailure() -> Bool {
        guard failure != nil else { return false }
        (failure, failingSince) = (nil, nil)
        return true
    }

    /// Notes why the source cannot be watched; nil if it is watched.
    mutating func setWatchProblem(_ problem: String?, at now: Instant) -> [NewProblem] {
        let known = unwatched
        unwatched = problem.map { Fact(kind: .unwatched, text: $0, since: known?.since ?? now) }
        guard let problem, problem != known?.text else { return [] }
        return [.unwatched(problem)]
    }

    /// Another object fetches the source from now on, watches it anew and reads its list of signers.
    mutating func clearWatchProblem() { (unwatched, unreadableSigners) = (nil, nil) }

    /// Why its list of signers cannot be used; nil if it can.
    var signersProblem: String? { unreadableSigners?.text }

    /// Notes why the list of signers cannot be used; nil if it can.
    mutating func setSignersProblem(_ problem: String?, at now: Instant) -> [NewProblem] {
        let known = unreadableSigners
        unreadableSigners = problem.map {
            Fact(kind: .unreadableSigners, text: $0, since: known?.since ?? now)
        }
        guard let problem, problem != known?.text else { return [] }
        return [.warned(problem)]
    }

    /// Notes the present warnings about the source.
    mutating func setWarnings(_ present: [String], at now: Instant) -> [NewProblem] {
        Self.update(.warning, present, in: &warnings, at: now)
    }

    /// Notes why flags in force are unproved.
    mutating func setDisproofs(_ present: [String], at now: Instant) -> [NewProblem] {
        Self.update(.unproved, present, in: &disproofs, at: now)
    }

    private static func update(
        _ kind: Kind, _ present: [String], in facts: inout [Fact], at now: Instant
    ) -> [NewProblem] {
        let known = Dictionary(facts.map { ($0.text, $0.since) }) { first, _ in first }
        var seen: Set<String> = []
        let distinct = present.filter { seen.insert($0).inserted }
        facts = distinct.map { Fact(kind: kind, text: $0, since: known[$0] ?? now) }
        return distinct.filter { known[$0] == nil }.map(NewProblem.warned)
    }

    /// Notes the present jumps of versions in its flags.
    mutating func setVersionJumps(_ present: Set<VersionJump>, at now: Instant) -> [NewProblem] {
        let known = versionJumps
        // An empty dictionary costs a poll nothing.
        if present.isEmpty, known.isEmpty { return [] }
        versionJumps = [:]
        for jump in present { versionJumps[jump] = known[jump] ?? now }
        return jumps.filter { fact in !known.keys.contains { $0.warning() == fact.text } }
            .map { .warned($0.text) }
    }

    /// The answers were dropped, and with them their versions and signatures.
    mutating func clearFlagProblems() { (disproofs, versionJumps) = ([], [:]) }
}

/// What is wrong with a source, in words.
extension SourceState {
    /// Whether its last fetch failed, it cannot be watched, or there are warnings about its flags.
    var isTroubled: Bool { !problems.isEmpty }

    /// One of its problems; nil if there are fewer by now. A source whose fetches fail is an alarm once its
    /// flags are older than three intervals, or it gave none for as long.
    func problem(_ position: Int, at now: Now) -> Problem? {
        let facts = problems.all
        guard facts.indices.contains(position) else { return nil }
        let fact = facts[position]
        switch fact.kind {
        case .failed:
            let text = "\(fact.text); \(LogMessage.rest(hasFlags: !answers.isEmpty))"
            let kind = problems.failure?.refusal == nil ? Problem.Kind.source : .documentRefused
            return problem(
                kind, text, fact.since, isAlarm: isOverdue(since: fact.since, at: now))
        case .unreadableSigners:
            return problem(.signersUnreadable, fact.text, fact.since, isAlarm: true)
        case .unwatched:
            let text = "\(fact.text); changes are seen at the next poll only"
            return problem(.sourceUnwatched, text, fact.since, isAlarm: false)
        case .unproved: return problem(.unproved, fact.text, fact.since, isAlarm: true)
        case .warning: return problem(.sourceWarning, fact.text, fact.since, isAlarm: true)
        }
    }

    private func problem(
        _ kind: Problem.Kind, _ text: String, _ since: Instant, isAlarm: Bool
    ) -> Problem {
        Problem(.source(name), kind, text, since: since, isAlarm: isAlarm)
    }

    /// Whether its flags are older than three intervals, or none came for as long `since` it fails.
    private func isOverdue(since: Instant, at now: Now) -> Bool {
        let age = confirmation == .never ? now.wall - since : confirmation.age(at: now)
        return age > plan.interval * 3
    }
}
