/// What one service would be decided to be, before the guards have looked at it.
struct Wish {
    let service: Int
    let evidence: [Evidence]
    let circumstances: Circumstances
    let verdict: Verdict
    /// Whether nothing has happened but that time passed.
    let isOfTimeAlone: Bool

    /// Whether flags or the policy open it: not an operator, nor the wait for a first answer.
    fileprivate var opens: Bool {
        verdict.gate == .open && verdict.override == nil && verdict.reason.source != nil
            && verdict.reason.slug != .awaitingFirstAnswer
    }
}

/// The host guard: more services than `close_at_once` that would close for one cause stay open until
/// an operator confirms. One mistake at a source is then not the end of everything on the host.
///
/// A cause is one event. An end or a window that comes true is none, for it was announced; neither is
/// an operator's override.
extension Machine {
    /// Marks what is to be held, and lets go of what would not close any more.
    mutating func guardClosing(_ wishes: [Wish], _ batch: inout Batch) {
        for wish in wishes where wish.opens { services[wish.service].hold = .none }
        guard let limit = closeAtOnce else {
            for wish in wishes { services[wish.service].hold = .none }
            return
        }
        let closing = wishes.filter { services[$0.service].hold == .none && closes($0) }
        guard closing.count > limit else { return }
        for wish in closing { services[wish.service].hold = .held }
        batch.notices.append(
            .closingHeld(closing.map { services[$0.service].service.name }.sorted(), limit: limit))
    }

    /// An operator lets what is held go ahead.
    mutating func confirmClosing(
        of names: [ServiceName], by author: String, _ batch: inout Batch
    ) {
        let held = names.compactMap { wiring.service($0) }.filter { services[$0].hold == .held }
        guard !held.isEmpty else { return }
        for index in held {
            services[index].hold = .confirmed
            services[index].isDue = true
        }
        batch.notices.append(
            .closingConfirmed(held.map { services[$0].service.name }.sorted(), by: author))
    }

    /// Whether the host guard keeps a service open.
    package func isHeld(_ name: ServiceName) -> Bool {
        wiring.service(name).map { services[$0].hold == .held } ?? false
    }

    /// What stands while the guard holds a service that would close.
    func holdOpen(_ wish: Verdict, of state: ServiceState) -> Verdict {
        guard state.hold == .held, wish.gate == .closed, wish.override == nil,
            let source = wish.source ?? wish.reason.source, let standing = standing(of: state)
        else { return wish }
        var held = standing
        held.reason = .closingHeld(source)
        return held
    }

    private func closes(_ wish: Wish) -> Bool {
        guard wish.verdict.gate == .closed, wish.verdict.override == nil,
            standing(of: services[wish.service])?.gate == .open
        else { return false }
        let slug = wish.verdict.reason.slug
        return !(wish.isOfTimeAlone && (slug == .endPassed || slug == .window))
    }

    /// The verdict that stands; nil where there is none. Before the first one of this run, it is what
    /// the run before has left.
    private func standing(of state: ServiceState) -> Verdict? {
        if let verdict = state.record?.verdict { return verdict }
        guard let known = ledger.entries[state.service.name]?.state, known != .undecided else {
            return nil
        }
        return Verdict(
            state: known, gate: state.service.policy.gate(of: known), reason: .starting)
    }
}
