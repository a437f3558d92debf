import CivilTime

/// One answer and one switch: whether it counts for that, and what it says to it.
extension Machine {
    /// Gives an answer to one switch; true where it has to be kept.
    mutating func offer(
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
    mutating func activate(
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
    mutating func refuse(
        _ problem: InvalidFlag, by user: Wiring.User, _ batch: inout Batch
    ) {
        services[user.service].switches[user.position].unconfirmed = nil
        guard services[user.service].switches[user.position].problem != problem else { return }
        services[user.service].switches[user.position].problem = problem
        let service = services[user.service].service
        let source = service.switches[user.position].source
        batch.notices.append(.answerInvalid(service.name, source, problem))
    }
}

extension ServiceState {
    /// An answer was good for one of its switches.
    mutating func hear(at now: Now) {
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
