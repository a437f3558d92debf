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

    /// Gives an answer to one switch; true where it has to be kept.
    private mutating func offer(
        _ answer: NumberedAnswer, to user: Wiring.User, at now: Now, _ batch: inout Batch
    ) -> Bool {
        let reading: Reading
        switch services[user.service].service.switches[user.position].read(
            answer, in: services[user.service].service.zone)
        {
        case .success(let read): reading = read
        case .failure(let problem):
            refuse(problem, by: user, &batch)
            return false
        }
        let regression = services[user.service].switches[user.position].regression(in: reading)
        if let regression {
            refuse(regression, by: user, &batch)
            return false
        }
        services[user.service].hear(at: now)
        if services[user.service].service.activation == .nextStart,
            services[user.service].switches[user.position].reading != nil
        {
            services[user.service].switches[user.position].staged = answer.number
            services[user.service].switches[user.position].accept(reading)
            services[user.service].switches[user.position].confirm(.now(now.boot))
            return true
        }
        if let unconfirmed = unconfirmed(reading, by: user, at: now) {
            services[user.service].switches[user.position].unconfirmed = unconfirmed
            services[user.service].switches[user.position].problem = nil
            return false
        }
        rest(user, on: answer, reading, &batch)
        services[user.service].switches[user.position].confirm(.now(now.boot))
        return true
    }

    /// Lets a switch rest on an answer that was stored for it.
    private mutating func activate(
        _ answer: NumberedAnswer, by user: Wiring.User, _ batch: inout Batch
    ) {
        let service = services[user.service].service
        let plan = service.switches[user.position]
        guard case .success(let reading) = plan.read(answer, in: service.zone) else {
            return
        }
        rest(user, on: answer, reading, &batch)
    }

    /// Lets a switch rest on an answer as it was read, with the values that go with it.
    private mutating func rest(
        _ user: Wiring.User, on answer: NumberedAnswer, _ reading: Reading, _ batch: inout Batch
    ) {
        tellDoubts(of: reading, by: user, &batch)
        services[user.service].isDue = true
        if services[user.service].switches[user.position].reading?.claims != reading.claims {
            services[user.service].hasNews = true
        }
        services[user.service].switches[user.position].accept(reading)
        services[user.service].switches[user.position].reading = reading
        services[user.service].switches[user.position].answer = answer.number
        services[user.service].switches[user.position].staged = nil
        takeValues(of: user, from: answer, &batch)
    }

    /// Says what is new and doubtful in a reading: an end that is no date, a version that cannot be
    /// compared.
    private mutating func tellDoubts(
        of reading: Reading, by user: Wiring.User, _ batch: inout Batch
    ) {
        guard reading.unreadableEnd != nil || reading.minimumVersion != nil else { return }
        let service = services[user.service].service
        let plan = service.switches[user.position]
        let known = services[user.service].switches[user.position].reading
        if let text = reading.unreadableEnd, known?.unreadableEnd != text {
            batch.notices.append(.endUnreadable(service.name, plan.source, text))
        }
        if let minimum = reading.minimumVersion, known?.minimumVersion != minimum,
            services[user.service].installed == nil
        {
            batch.notices.append(.versionUnknown(service.name, plan.source, minimum))
        }
    }

    /// What is said of a reading that has not been given often enough to count; nil where it counts.
    /// The first flags of all need no confirmation.
    private func unconfirmed(
        _ reading: Reading, by user: Wiring.User, at now: Now
    ) -> Unconfirmed? {
        let close = services[user.service].service.policy.confirmClose
        let open = services[user.service].service.policy.confirmOpen
        guard max(close, open) > 1 else { return nil }
        let state = services[user.service]
        let (service, known) = (state.service, state.switches[user.position])
        guard let before = known.reading else { return nil }
        let circumstances = circumstances(of: state, at: now)
        let source = service.switches[user.position].source
        let gate = { (reading: Reading) in
            service.opinion(of: Evidence(source: source, reading: reading), in: circumstances)?.gate
        }
        guard let wanted = gate(reading), wanted != gate(before) else { return nil }
        let count = known.unconfirmed?.gate == wanted ? known.unconfirmed?.count ?? 0 : 0
        let needed = wanted == .closed ? close : open
        guard count + 1 < needed else { return nil }
        return Unconfirmed(gate: wanted, count: count + 1, needed: needed)
    }

    /// Keeps what the switch has, and says once why the newest answer does not count.
    private mutating func refuse(
        _ problem: InvalidFlag, by user: Wiring.User, _ batch: inout Batch
    ) {
        services[user.service].switches[user.position].unconfirmed = nil
        guard services[user.service].switches[user.position].problem != problem else { return }
        services[user.service].switches[user.position].problem = problem
        let service = services[user.service].service
        let source = service.switches[user.position].source
        batch.notices.append(.answerInvalid(service.name, source, problem))
    }

    private func store(_ index: Int, _ batch: inout Batch) {
        batch.stores.append(.store(sources[index].name, sources[index].answers.map(\.answer)))
    }

}

extension ServiceState {
    /// An answer was good for one of its switches.
    fileprivate mutating func hear(at now: Now) {
        firstAnswerAt = firstAnswerAt ?? now.boot
    }
}

extension Reading {
    fileprivate var unreadableEnd: String? {
        for case .countdown(.unreadable(let text)) in claims { return text }
        return nil
    }

    fileprivate var minimumVersion: Version? {
        for case .minimumVersion(let version) in claims { return version }
        return nil
    }
}
