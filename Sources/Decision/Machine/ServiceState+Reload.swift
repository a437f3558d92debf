import CivilTime

extension ServiceState {
    /// The state of a switch under another configuration. An unchanged switch keeps its state. If
    /// the zone or the defaults of the source changed, the answers are read again.
    ///
    /// If flags are staged, a new switch reads the answer in force, because a reload is no start. A new switch
    /// reads the signed answer on which its service rests; `catchUp` offers it the newer ones.
    func reconfigured(
        _ plan: Switch, of next: Service, _ changes: inout [SourceName: SourceChange], at now: Now
    ) -> SwitchState {
        var state = SwitchState(awaitedSince: now.boot)
        // Taken by itself: what was read for one service is there for the next.
        guard var change = changes.removeValue(forKey: plan.source) else { return state }
        defer { changes[plan.source] = change }
        let known = service.switches.firstIndex(of: plan).map { switches[$0] }
        if let known, next.zone == service.zone, !change.hasOtherDefaults {
            state = known
        } else {
            let answers = change.source.answers
            let isSigned = answers.contains { $0.answer.signed != nil }
            let own = answers.firstIndex { $0.number == known?.answer?.number }
            let oldest = (isSigned ? own : nil) ?? oldestAnswer(of: plan.source, answers)
            let inForce = isSigned ? oldest : next.activation == .nextStart ? oldest ?? 0 : 0
            if let inForce, !answers.isEmpty {
                let last = isSigned ? inForce : answers.count - 1
                state.adopt(&change.answers, inForce...last, by: plan, of: next)
            }
            if state.reading != nil {
                // The flags are known already: the wait does not start again.
                if let known { state.wait(like: known) }
                if !isSigned, inForce != 0, !answers.isEmpty {
                    state.stage(&change.answers[0], by: plan, of: next)
                }
            }
        }
        if change.hasOtherAddress { state.inherit(at: now) }
        if change.hasOtherAudience { state.awaitProof(at: now) }
        return state
    }

    /// The position of the oldest answer of a source that a switch rests on.
    private func oldestAnswer(of source: SourceName, _ answers: [NumberedAnswer]) -> Int? {
        let numbers = zip(service.switches, switches)
            .filter { $0.0.source == source }.compactMap(\.1.answer?.number)
        return answers.lastIndex { numbers.contains($0.number) }
    }
}

/// A source that stays configured over a reload.
struct SourceChange {
    /// The source after the reload.
    let source: SourceState
    /// Its answers, for the switches that read them again.
    var answers: [AnswerReader]
    let hasOtherAddress: Bool
    let hasOtherDefaults: Bool
    let hasOtherAudience: Bool
}
