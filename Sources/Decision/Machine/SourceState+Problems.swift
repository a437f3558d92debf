import CivilTime

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
