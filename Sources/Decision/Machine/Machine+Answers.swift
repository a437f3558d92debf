import CivilTime

extension Machine {
    /// Reads a new answer for every switch of its source. Those that can read it rest on it from now
    /// on; the others keep the answer they have, which stays stored as long as they need it.
    mutating func take(_ answer: Answer, from index: Int, at now: Now, _ batch: inout Batch) {
        let numbered = number(answer)
        let name = sources[index].name
        var isRead = false
        forEachSwitch(of: index) { service, plan, state in
            service.isDue = true
            switch Self.read(answer, by: plan, in: service.service.zone) {
            case .success(let reading):
                isRead = true
                if let text = reading.unreadableEnd, state.reading?.unreadableEnd != text {
                    batch.notices.append(.endUnreadable(service.service.name, name, text))
                }
                state.rest(on: reading, numbered.number, .now(now.boot))
                service.firstAnswerAt = service.firstAnswerAt ?? now.boot
            case .failure(let problem):
                state.refuse(problem, service.service.name, name, &batch)
            }
        }
        guard isRead else { return }
        sources[index].answers.insert(numbered, at: 0)
        pruneAnswers(of: index)
        sources[index].confirmation = .now(now.boot)
        batch.confirmations.append(.confirm(name))
        batch.stores.append(.store(name, sources[index].answers.map(\.answer)))
        if trust.believes(now) { trust.raiseFloor(to: answer.fetchedAt) }
    }

    /// The flags are those of the newest answer still.
    mutating func confirm(_ index: Int, at now: Now, _ batch: inout Batch) {
        guard let newest = sources[index].answers.first else { return }
        let name = sources[index].name
        forEachSwitch(of: index) { service, plan, state in
            guard state.answer == newest.number else {
                if case .failure(let problem) = Self.read(
                    newest.answer, by: plan, in: service.service.zone)
                {
                    state.refuse(problem, service.service.name, name, &batch)
                }
                return
            }
            let maxStale = service.service.policy.maxStale
            let wasStale = maxStale.map { state.confirmation.age(at: now) >= $0 } ?? false
            if !state.isAnswered || state.problem != nil || wasStale { service.isDue = true }
            state.confirm(.now(now.boot))
            service.firstAnswerAt = service.firstAnswerAt ?? now.boot
        }
        sources[index].confirmation = .now(now.boot)
        batch.confirmations.append(.confirm(name))
    }

    /// Lets every switch of a source keep what it has, and say why the newest answer does not count.
    mutating func refuse(_ problem: InvalidFlag, from index: Int, _ batch: inout Batch) {
        let name = sources[index].name
        forEachSwitch(of: index) { service, _, state in
            service.isDue = service.isDue || state.problem != problem
            state.refuse(problem, service.service.name, name, &batch)
        }
    }

    /// Gives back what an earlier run stored: each switch rests on the newest answer it can read.
    mutating func restore(_ kept: Memory.Kept, to index: Int) {
        let numbered = kept.answers.map { number($0) }
        sources[index].answers = numbered
        sources[index].confirmation = .earlier(kept.confirmedAt)
        for user in wiring.users(of: index) {
            adopt(numbered, confirmed: sources[index].confirmation, by: user)
        }
        pruneAnswers(of: index)
    }

    /// Lets a switch rest on the newest of these answers that it can read. The newest of all was
    /// last confirmed as told; an older one counts from its own fetch.
    mutating func adopt(
        _ answers: [NumberedAnswer], confirmed: Confirmation, by user: Wiring.User
    ) {
        let service = services[user.service].service
        var state = SwitchState()
        for answer in answers where state.reading == nil {
            switch Self.read(answer.answer, by: service.switches[user.position], in: service.zone) {
            case .success(let reading):
                let isNewest = answer.number == answers.first?.number
                state.reading = reading
                state.answer = answer.number
                state.confirmation = isNewest ? confirmed : .earlier(answer.answer.fetchedAt)
            case .failure(let problem):
                state.problem = state.problem ?? problem
            }
        }
        if case .now(let moment) = state.confirmation {
            state.isAnswered = true
            let first = services[user.service].firstAnswerAt
            services[user.service].firstAnswerAt = first ?? moment
        }
        services[user.service].switches[user.position] = state
    }

    /// Whether every switch of the source rests on its newest answer.
    func isReadByAll(_ index: Int) -> Bool {
        guard let newest = sources[index].answers.first else { return false }
        return wiring.users(of: index).allSatisfy { user in
            services[user.service].switches[user.position].answer == newest.number
                && services[user.service].switches[user.position].problem == nil
        }
    }

    /// Lets go of the answers that no switch rests on any more.
    mutating func pruneAnswers(of index: Int) {
        guard sources[index].answers.count > 1 else { return }
        let used = Set(
            wiring.users(of: index).compactMap {
                services[$0.service].switches[$0.position].answer
            })
        sources[index].answers.removeAll { !used.contains($0.number) }
    }

    private mutating func forEachSwitch(
        of source: Int, _ body: (inout ServiceState, Switch, inout SwitchState) -> Void
    ) {
        for user in wiring.users(of: source) {
            let plan = services[user.service].service.switches[user.position]
            var state = services[user.service].switches[user.position]
            body(&services[user.service], plan, &state)
            services[user.service].switches[user.position] = state
        }
    }

    private static func read(
        _ answer: Answer, by plan: Switch, in zone: Zone
    ) -> Result<Reading, InvalidFlag> {
        do {
            return .success(try plan.format.read(answer.flags, in: zone))
        } catch {
            return .failure(error)
        }
    }
}

extension SwitchState {
    fileprivate mutating func rest(
        on reading: Reading, _ answer: Int, _ confirmation: Confirmation
    ) {
        self.reading = reading
        self.answer = answer
        confirm(confirmation)
    }

    fileprivate mutating func confirm(_ confirmation: Confirmation) {
        self.confirmation = confirmation
        isAnswered = true
        problem = nil
    }

    /// Keeps what it has, and says once why the newest answer does not count.
    fileprivate mutating func refuse(
        _ problem: InvalidFlag, _ service: ServiceName, _ source: SourceName, _ batch: inout Batch
    ) {
        guard self.problem != problem else { return }
        self.problem = problem
        batch.notices.append(.answerInvalid(service, source, problem))
    }
}

extension Reading {
    fileprivate var unreadableEnd: String? {
        for case .countdown(.unreadable(let text)) in claims { return text }
        return nil
    }
}
