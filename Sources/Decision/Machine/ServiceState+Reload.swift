import CivilTime

/// What a reload makes of a source that stays.
struct SourceChange {
    let answers: [NumberedAnswer]
    let confirmation: Confirmation
    let hasOtherAddress: Bool
    let hasOtherDefaults: Bool
}

extension ServiceState {
    /// The installed version under another configuration. Another file says it itself, later.
    func installed(under plan: InstalledVersion?) -> Version? {
        switch plan {
        case .version(let version): version
        case .file: plan == service.installed ? installed : nil
        case nil: nil
        }
    }

    /// What is known of a switch under another configuration: all of it where it is the same switch.
    /// In another zone a date without an offset is another one, and with other defaults of the source
    /// the answers have to be read again. Without a change its source is new.
    ///
    /// Where flags wait for the next start, another switch reads the answer that is in force, for a
    /// reload is no start.
    func continued(
        _ plan: Switch, of next: Service, on change: SourceChange?, at now: Now
    ) -> SwitchState {
        var state = SwitchState(awaitedSince: now.boot)
        guard let change else { return state }
        let known = service.switches.firstIndex(of: plan).map { switches[$0] }
        if let known, next.zone == service.zone, !change.hasOtherDefaults {
            state = known
        } else {
            let inForce = next.activation == .nextStart ? oldestAnswer(of: plan.source, change) : 0
            state.adopt(
                change.answers[inForce...], confirmed: change.confirmation, by: plan.format,
                in: next.zone)
            if state.reading != nil {
                // Its flags are as old as they were: they need not be waited for again.
                if let known { state.wait(like: known) }
                if inForce > 0 { state.stage(change.answers.first?.number) }
            }
        }
        if change.hasOtherAddress { state.inherit(at: now) }
        return state
    }

    /// The position of the oldest answer of a source that a switch rests on.
    private func oldestAnswer(of source: SourceName, _ change: SourceChange) -> Int {
        let numbers = zip(service.switches, switches)
            .filter { $0.0.source == source }.compactMap(\.1.answer?.number)
        return change.answers.lastIndex { numbers.contains($0.number) } ?? 0
    }
}
