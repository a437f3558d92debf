import CivilTime

extension ServiceState {
    /// The state of a switch under another configuration. An unchanged switch keeps its state. If
    /// the zone or the defaults of the source changed, the answers are read again. `change` is nil
    /// for a new source.
    ///
    /// If flags are staged, a new switch reads the answer in force, because a reload is no start.
    func continued(
        _ plan: Switch, of next: Service, on change: SourceChange?, at now: Now
    ) -> SwitchState {
        var state = SwitchState(awaitedSince: now.boot)
        guard let change else { return state }
        let known = service.switches.firstIndex(of: plan).map { switches[$0] }
        if let known, next.zone == service.zone, !change.hasOtherDefaults {
            state = known
        } else {
            let answers = change.source.answers
            let inForce = next.activation == .nextStart ? oldestAnswer(of: plan.source, answers) : 0
            state.adopt(
                answers[inForce...], confirmed: change.source.confirmation, by: plan, of: next)
            if state.reading != nil {
                // The flags are known already: the wait does not start again.
                if let known { state.wait(like: known) }
                if inForce > 0 { state.stage(answers.first?.number) }
            }
        }
        if change.hasOtherAddress { state.inherit(at: now) }
        return state
    }

    /// The position of the oldest answer of a source that a switch rests on.
    private func oldestAnswer(of source: SourceName, _ answers: [NumberedAnswer]) -> Int {
        let numbers = zip(service.switches, switches)
            .filter { $0.0.source == source }.compactMap(\.1.answer?.number)
        return answers.lastIndex { numbers.contains($0.number) } ?? 0
    }
}
