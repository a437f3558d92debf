/// What one service would be decided to be, before the guards have looked at it.
struct Wish {
    let service: Int
    let evidence: [Evidence]
    let circumstances: Circumstances
    let verdict: Verdict
    /// The same, had no operator ordered anything.
    let unforced: Verdict

    /// Whether flags or the policy open it: not the wait for a first answer.
    fileprivate var opens: Bool {
        unforced.gate == .open && unforced.reason.source != nil
            && unforced.reason.slug != .awaitingFirstAnswer
    }
}

/// The host guard: more services than `close_at_once` that would close for one cause stay open until
/// an operator confirms. One mistake at a source is then not the end of everything on the host.
///
/// A cause is one event: an answer, silence, a reload. An end or a window that comes true is none, for it
/// was announced; neither is an operator's order, nor its end. So what is compared is what the flags and
/// the policy want, whatever an operator has ordered meanwhile.
extension Machine {
    /// Marks what is to be held, and lets go of what would not close any more.
    mutating func guardClosing(_ wishes: [Wish], _ batch: inout Batch) {
        defer { noteWhatIsWanted(wishes) }
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
            let source = wish.source ?? wish.reason.source
        else { return wish }
        var held = state.lastOpen ?? Verdict(state: .running, gate: .open, reason: .starting)
        held.reason = .closingHeld(source)
        return held
    }

    private func closes(_ wish: Wish) -> Bool {
        let state = services[wish.service]
        guard wish.unforced.gate == .closed, state.wanted == .open else { return false }
        let slug = wish.unforced.reason.slug
        return state.hasNews || (slug != .endPassed && slug != .window)
    }

    private mutating func noteWhatIsWanted(_ wishes: [Wish]) {
        for wish in wishes {
            services[wish.service].hasNews = false
            services[wish.service].wanted = wish.unforced.gate ?? services[wish.service].wanted
        }
    }
}
