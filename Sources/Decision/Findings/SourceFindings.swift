import CivilTime

/// What is wrong with a source: failed fetches, no watch, warnings about its flags.
struct SourceProblems: Hashable, Sendable {
    /// Why the last fetch failed; nil after a good one.
    private(set) var failure: Failure?
    /// Since when its fetches fail; nil after a good one.
    private(set) var failingSince: Boottime?
    /// All problems, the worst first.
    private(set) var all: [Fact] = []

    /// A problem, as a clause about the source.
    struct Fact: Hashable {
        let kind: Kind
        let text: String
    }

    /// The kinds of problems of a source, the worst first.
    enum Kind: Int {
        case failed
        case unreadableSigners
        /// Changes are seen at polls only.
        case unwatched
        /// The signatures of flags in force do not count any more.
        case unproved
        case warning
        case versionJump
        /// A cache answers, and not the server.
        case cached
        /// It is polled more often than its server likes; the warnings of the configuration say so.
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
    mutating func setFailure(_ failure: Failure, at now: Boottime) {
        if failingSince == nil { failingSince = now }
        self.failure = failure
        set(.failed, to: [failure.detail])
    }

    /// Clears the failure after a good fetch.
    mutating func clearFailure() {
        guard failure != nil else { return }
        (failure, failingSince) = (nil, nil)
        clear(.failed)
    }

    /// Sets the present problems of a kind.
    mutating func set(_ kind: Kind, to present: [String]) {
        if present.isEmpty, all.isEmpty { return }
        clear(kind)
        var seen: Set<String> = []
        all += present.filter { seen.insert($0).inserted }.map { Fact(kind: kind, text: $0) }
        all.sort { ($0.kind.rawValue, $0.text) < ($1.kind.rawValue, $1.text) }
    }

    /// Whether there is a problem of a kind.
    func has(_ kind: Kind) -> Bool { !all.isEmpty && all.contains { $0.kind == kind } }

    /// Drops the problems of these kinds.
    mutating func clear(_ kinds: Kind...) { all.removeAll { kinds.contains($0.kind) } }
}

/// What is wrong with a source, in words.
extension SourceState {
    /// Whether anything may be wrong with it. Most events find nothing, and look at each source.
    var isTroubled: Bool {
        !problems.isEmpty || mirrors != nil || documents.versionProblem != nil
    }

    /// What is wrong with it and its mirrors, the worst first.
    func findings(at now: Now) -> [Finding] {
        var found: [Finding] = []
        if let problem = documents.versionProblem {
            let text = "\(problem); no signed document counts"
            found.append(Finding(.source(name), .unreadableRecord, text, matter: "version"))
        }
        return found + problems.all.map { finding($0, at: now) } + mirrorFindings(at: now.boot)
    }

    /// Failed fetches are an alarm once the source is overdue.
    private func finding(_ fact: SourceProblems.Fact, at now: Now) -> Finding {
        let kind: Finding.Kind
        var (text, isAlarm) = (fact.text, true)
        var advice: String?
        switch fact.kind {
        case .failed:
            kind = problems.failure?.refusal == nil ? .source : .documentRefused
            text += "; \(Failure.rest(hasFlags: !answers.isEmpty))"
            isAlarm = isOverdue(at: now)
        case .unreadableSigners: kind = .signersUnreadable
        case .unwatched:
            (kind, isAlarm) = (.sourceUnwatched, false)
            text += "; changes are seen at the next poll only"
        case .unproved: kind = .unproved
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
        return Finding(
            .source(name), kind, text, matter: fact.kind.isSingle ? "" : fact.text,
            isAlarm: isAlarm, isLogged: fact.kind != .pace, advice: advice)
    }

    /// The mirrors that do not count. Each is asked once in as many intervals as there are mirrors, and a publisher
    /// takes some time too.
    private func mirrorFindings(at now: Boottime) -> [Finding] {
        (mirrors?.problems ?? []).map { problem in
            Finding(
                .source(name), .mirror, problem.text, matter: problem.address,
                isAlarm: now - problem.since > plan.interval * (3 * plan.mirrors.count))
        }
    }

    /// Whether its flags are older than three intervals, or none came for as long since it fails.
    private func isOverdue(at now: Now) -> Bool {
        guard let since = problems.failingSince else { return false }
        let age = confirmation == .never ? now.boot - since : confirmation.age(at: now)
        return age > plan.interval * 3
    }
}

extension Failure {
    /// The flags in force without the newest answer, as the end of a sentence.
    package static func rest(hasFlags: Bool) -> String {
        hasFlags ? "the last good flags stay in force" : "no valid flags are known yet"
    }
}
