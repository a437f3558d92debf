import CivilTime

extension Machine {
    /// Offers a new answer to every switch of its source. Those that take it rest on it from now on;
    /// the others keep the answer they have, which stays stored as long as they need it.
    mutating func take(_ answer: Answer, from index: Int, at now: Now, _ batch: inout Batch) {
        let numbered = number(answer, of: index)
        var isKept = false
        for user in wiring.users(of: index) {
            services[user.service].isDue = true
            if offer(numbered, to: user, at: now, &batch) { isKept = true }
        }
        guard isKept else { return }
        noteVanished(after: answer, of: index, &batch)
        if !sources[index].answers.isEmpty {
            sources[index].answers[0].answer.confirmedAt =
                sources[index].confirmation.instant(at: now)
        }
        sources[index].answers.insert(numbered, at: 0)
        pruneAnswers(of: index)
        sources[index].confirmation = .now(now.boot)
        batch.confirmations.append(.confirm(sources[index].name))
        store(index, &batch)
        if trust.believes(now) { trust.raiseFloor(to: answer.fetchedAt) }
    }

    /// The flags are those of the newest answer still: as good as the same answer again.
    mutating func confirm(_ index: Int, at now: Now, _ batch: inout Batch) {
        guard !sources[index].answers.isEmpty else { return }
        let newest = sources[index].answers[0].number
        var isTaken = false
        for user in wiring.users(of: index) {
            let state = services[user.service].switches[user.position]
            guard state.newest == newest else {
                services[user.service].isDue = true
                if offer(sources[index].answers[0], to: user, at: now, &batch) { isTaken = true }
                continue
            }
            let maxStale = services[user.service].service.policy.maxStale
            let wasStale = maxStale.map { state.confirmation.age(at: now) >= $0 } ?? false
            if !state.isAnswered || state.problem != nil || state.unconfirmed != nil || wasStale {
                services[user.service].isDue = true
            }
            services[user.service].switches[user.position].confirm(.now(now.boot))
            services[user.service].hear(at: now)
        }
        sources[index].confirmation = .now(now.boot)
        batch.confirmations.append(.confirm(sources[index].name))
        guard isTaken else { return }
        pruneAnswers(of: index)
        store(index, &batch)
    }

    /// Makes the newest answer of a source its own, where it was inherited and the address that is
    /// asked now says the same: stored, so that a restart knows it too.
    mutating func disinherit(_ answer: Answer, of index: Int, _ batch: inout Batch) {
        guard sources[index].answers[0].answer.isInherited else { return }
        sources[index].answers[0].answer = answer
        for user in wiring.users(of: index) {
            services[user.service].switches[user.position].acceptAsOwn(sources[index].answers[0])
        }
        store(index, &batch)
    }

    /// Lets every switch of a source keep what it has, and say why the newest answer does not count.
    mutating func refuse(_ problem: InvalidFlag, from index: Int, _ batch: inout Batch) {
        for user in wiring.users(of: index) {
            let known = services[user.service].switches[user.position]
            if known.problem != problem { services[user.service].isDue = true }
            refuse(problem, by: user, &batch)
        }
    }

    /// Gives back what an earlier run stored: each switch rests on the newest answer it can read.
    mutating func restore(_ kept: Memory.Kept, to index: Int) {
        let numbered = kept.answers.map { number($0, of: index) }
        sources[index].answers = numbered
        sources[index].confirmation = .earlier(kept.confirmedAt)
        for user in wiring.users(of: index) {
            adopt(numbered, confirmed: sources[index].confirmation, by: user)
        }
        pruneAnswers(of: index)
    }

    /// Lets a switch rest on the newest of these answers that it can read, and the values that go
    /// with it.
    mutating func adopt(
        _ answers: [NumberedAnswer], confirmed: Confirmation, by user: Wiring.User
    ) {
        let service = services[user.service].service
        services[user.service].switches[user.position].adopt(
            answers, confirmed: confirmed, by: service.switches[user.position], in: service.zone)
        let adopted = services[user.service].switches[user.position]
        if case .now(let moment) = adopted.confirmation {
            services[user.service].firstAnswerAt = services[user.service].firstAnswerAt ?? moment
        }
        adoptValues(of: user, from: answers)
    }

    /// Lets what was stored and does not count yet take force: of one service, or of all.
    mutating func activate(_ name: ServiceName?, _ batch: inout Batch) {
        for index in sources.indices {
            for user in wiring.users(of: index) {
                let state = services[user.service].switches[user.position]
                guard name == nil || services[user.service].service.name == name,
                    let answer = sources[index].answers.first(where: { $0.number == state.staged })
                else { continue }
                activate(answer, by: user, &batch)
            }
            pruneAnswers(of: index)
        }
    }

    /// Whether every switch of the source rests on its newest answer, or will.
    func isReadByAll(_ index: Int) -> Bool {
        guard !sources[index].answers.isEmpty else { return false }
        let newest = sources[index].answers[0].number
        return wiring.users(of: index).allSatisfy { user in
            services[user.service].switches[user.position].newest == newest
                && services[user.service].switches[user.position].problem == nil
        }
    }

    /// Lets go of the answers that nothing rests on any more.
    mutating func pruneAnswers(of index: Int) {
        guard sources[index].answers.count > 1 else { return }
        var used: Set<Int> = []
        for user in wiring.users(of: index) {
            let state = services[user.service].switches[user.position]
            used.formUnion([state.answer, state.staged].compactMap(\.self))
            used.formUnion(services[user.service].remote.compactMap(\.answer))
        }
        sources[index].answers.removeAll { !used.contains($0.number) }
    }

    private func store(_ index: Int, _ batch: inout Batch) {
        batch.stores.append(.store(sources[index].name, sources[index].answers.map(\.answer)))
    }
}
