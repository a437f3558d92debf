import CivilTime

/// What is wrong with a source: failed fetches, no watch, warnings about its flags. Each is told once while it lasts.
struct SourceProblems: Hashable, Sendable {
    /// Why the last fetch failed; nil after a good one.
    private(set) var failure: Failure?
    /// All problems, the worst first.
    private(set) var all: [Fact] = []

    /// A problem since when.
    struct Fact: Hashable {
        let kind: Kind
        let text: String
        let since: Instant
    }

    /// The kinds of problems of a source, the worst first.
    enum Kind: Int {
        case failed
        case unreadableSigners
        /// Changes are seen at polls only.
        case unwatched
        /// The signatures of flags in force do not count any more.
        case unproved
        /// A mirror gives an old document, or none.
        case mirror
        case warning
        case versionJump
        /// A cache answers, and not the server.
        case cached
        /// It is polled more often than its server likes.
        case pace

        /// Whether there is one at most, which goes on while its text changes.
        var isSingle: Bool { rawValue <= Self.unwatched.rawValue }
    }

    var isEmpty: Bool { all.isEmpty }

    /// The present warnings about its flags, each a clause.
    var presentWarnings: [String] { all.filter { !$0.kind.isSingle }.map(\.text) }

    /// Why its list of signers cannot be used; nil if it can.
    var signersProblem: String? { all.first { $0.kind == .unreadableSigners }?.text }

    /// A fetch has failed.
    mutating func setFailure(_ failure: Failure, at now: Instant) {
        self.failure = failure
        _ = set(.failed, to: [failure.detail], at: now)
    }

    /// Clears the failure after a good fetch. True if the fetch before had failed.
    mutating func clearFailure() -> Bool {
        guard failure != nil else { return false }
        failure = nil
        clear(.failed)
        return true
    }

    /// Sets the present problems of a kind. Returns the texts that are new.
    mutating func set(_ kind: Kind, to present: [String], at now: Instant) -> [String] {
        if present.isEmpty, all.isEmpty { return [] }
        let before = all.filter { $0.kind == kind }
        let known = Dictionary(before.map { ($0.text, $0.since) }) { first, _ in first }
        let begun = kind.isSingle ? before.first?.since : nil
        var seen: Set<String> = []
        let distinct = present.filter { seen.insert($0).inserted }
        clear(kind)
        all += distinct.map { Fact(kind: kind, text: $0, since: known[$0] ?? begun ?? now) }
        all.sort { ($0.kind.rawValue, $0.text) < ($1.kind.rawValue, $1.text) }
        return distinct.filter { known[$0] == nil }
    }

    /// Sets which mirrors are in trouble, each with the time since when. Returns the texts that are new.
    mutating func set(mirrors present: [(text: String, since: Instant)]) -> [String] {
        if present.isEmpty, all.isEmpty { return [] }
        let before = Set(all.filter { $0.kind == .mirror }.map(\.text))
        clear(.mirror)
        all += present.map { Fact(kind: .mirror, text: $0.text, since: $0.since) }
        all.sort { ($0.kind.rawValue, $0.text) < ($1.kind.rawValue, $1.text) }
        return present.map(\.text).filter { !before.contains($0) }
    }

    /// Sets why it is polled too often; the configuration has told that already.
    mutating func setPace(_ warning: String?, at now: Instant) {
        _ = set(.pace, to: warning.map { [$0] } ?? [], at: now)
    }

    /// Since when its fetches fail; nil after a good one.
    var failingSince: Instant? { failure == nil ? nil : all.first { $0.kind == .failed }?.since }

    /// Whether there is a problem of a kind.
    func has(_ kind: Kind) -> Bool { !all.isEmpty && all.contains { $0.kind == kind } }

    /// Drops the problems of these kinds.
    mutating func clear(_ kinds: Kind...) { all.removeAll { kinds.contains($0.kind) } }
}

/// What is wrong with a source, in words.
extension SourceState {
    /// Whether its last fetch failed, it cannot be watched, or there are warnings about its flags.
    var isTroubled: Bool { !problems.isEmpty }

    /// One of its problems; nil if there are fewer by now. Failed fetches are an alarm once the source is overdue.
    func problem(_ position: Int, at now: Now) -> Problem? {
        guard problems.all.indices.contains(position) else { return nil }
        let fact = problems.all[position]
        let kind: Problem.Kind
        var (text, isAlarm) = (fact.text, true)
        var advice: String?
        switch fact.kind {
        case .failed:
            kind = problems.failure?.refusal == nil ? .source : .documentRefused
            text += "; \(LogMessage.rest(hasFlags: !answers.isEmpty))"
            isAlarm = isOverdue(at: now)
        case .unreadableSigners: kind = .signersUnreadable
        case .unwatched:
            (kind, isAlarm) = (.sourceUnwatched, false)
            text += "; changes are seen at the next poll only"
        case .unproved: kind = .unproved
        case .mirror:
            kind = .mirror
            // Each is asked once in as many intervals as there are mirrors, and a publisher takes some time too.
            isAlarm = now.wall - fact.since > plan.interval * (3 * plan.mirrors.count)
        case .warning, .versionJump: kind = .sourceWarning
        case .cached:
            kind = .sourceWarning
            advice =
                "have the cache ask the server, or take Cache-Control out of the 'headers' of [source.\(name)]; "
                + "until then orders come late"
        case .pace:
            (kind, isAlarm) = (.sourceWarning, false)
            advice = "correct [source.\(name)], then type 'killswitchctl reload'"
        }
        return Problem(
            .source(name), kind, text, since: fact.since, isAlarm: isAlarm, advice: advice)
    }

    /// Whether it fails, and its flags are older than three intervals, or none came for so long since it fails.
    func isOverdue(at now: Now) -> Bool {
        guard let since = problems.failingSince else { return false }
        let age = confirmation == .never ? now.wall - since : confirmation.age(at: now)
        return age > plan.interval * 3
    }
}

extension SourceState {
    /// Sets the present problems of a kind. Returns notices of those that are new.
    mutating func setProblems(_ kind: SourceProblems.Kind, to present: [String], at now: Now)
        -> [LogMessage]
    {
        problems.set(kind, to: present, at: now.wall).map {
            kind == .unwatched ? .sourceUnwatched(name, $0) : .sourceWarned(name, $0)
        }
    }

    /// Updates the problems of mirrors. Returns notices of those that are new.
    mutating func updateMirrorProblems() -> [LogMessage] {
        let present = mirrors?.problems ?? []
        return problems.set(mirrors: present).map { .sourceWarned(name, $0) }
    }
}
