import CivilTime

extension SourceState {
    init(plan: SourcePlan, at now: Now) {
        self.init(
            name: plan.name, defaults: plan.defaults, timeout: plan.timeout,
            schedule: Schedule(interval: plan.interval), confirmation: .never,
            activity: .waiting(until: now.boot))
    }
}

extension Machine {
    /// Takes in how a fetch ended, and says when the next one is due.
    mutating func receive(
        _ outcome: Outcome, from name: SourceName, at now: Now, _ batch: inout Batch
    ) {
        guard let index = wiring.source(name) else { return }
        switch outcome {
        case .answer(let answer):
            if sources[index].answers.first?.answer.body == answer.body {
                // Not stored: an ETag that is new each time must not write to disk each time.
                sources[index].answers[0].answer.validators = answer.validators
                disinherit(answer, of: index, &batch)
                confirm(index, at: now, &batch)
            } else {
                take(answer, from: index, at: now, &batch)
            }
            succeed(index, at: now, &batch)
        case .unchanged where !sources[index].answers.isEmpty:
            confirm(index, at: now, &batch)
            succeed(index, at: now, &batch)
        case .unchanged:
            let failure = Failure(.invalid, "the answer says 'unchanged', but nothing is known yet")
            fail(index, failure, at: now, &batch)
        case .failure(let failure):
            fail(index, failure, at: now, &batch)
        }
    }

    /// Fetches at once, or again at once when the fetch under way has ended.
    mutating func hint(_ name: SourceName, at now: Now) {
        guard let index = wiring.source(name) else { return }
        switch sources[index].activity {
        case .fetching(_, let limit):
            sources[index].activity = .fetching(isHinted: true, limit: limit)
        case .waiting: sources[index].activity = .waiting(until: now.boot)
        }
    }

    /// Says once what keeps a source from being watched. The polls go on.
    mutating func note(
        _ name: SourceName, unwatchedFor problem: String?, _ batch: inout Batch
    ) {
        guard let index = wiring.source(name), sources[index].watchProblem != problem else {
            return
        }
        sources[index].watchProblem = problem
        if let problem { batch.notices.append(.sourceUnwatched(name, problem)) }
    }

    mutating func fetchDue(at now: Now, _ batch: inout Batch) {
        for index in sources.indices {
            guard case .waiting(let moment) = sources[index].activity, moment <= now.boot
            else { continue }
            let limit = now.boot + sources[index].timeout
            sources[index].activity = .fetching(isHinted: false, limit: limit)
            batch.fetches.append(.fetch(sources[index].name, validators(of: index)))
        }
    }

    /// What makes the next request conditional: nothing while some switch cannot read the newest
    /// answer, so that it is read again.
    private func validators(of index: Int) -> Validators {
        isReadByAll(index) ? sources[index].answers[0].answer.validators : Validators()
    }

    private mutating func succeed(_ index: Int, at now: Now, _ batch: inout Batch) {
        if sources[index].announcedFailure != nil {
            sources[index].announcedFailure = nil
            batch.notices.append(.sourceRecovered(sources[index].name))
        }
        // The pace depends on the verdicts that this answer leads to.
        decideDue(at: now, &batch)
        let wait = sources[index].schedule.succeeded(pace: pace(of: index), using: &random)
        rest(index, for: wait, at: now)
    }

    private mutating func fail(
        _ index: Int, _ failure: Failure, at now: Now, _ batch: inout Batch
    ) {
        let wait = sources[index].schedule.failed(failure, using: &random)
        if sources[index].announcedFailure?.detail != failure.detail {
            batch.notices.append(.sourceFailed(sources[index].name, failure, retryIn: wait))
        }
        sources[index].announcedFailure = failure
        if failure.kind == .invalid {
            refuse(.notFlags(failure.detail), from: index, &batch)
        }
        if failure.retryAfter != nil {
            // A source that wants to be left alone is, also where it hinted meanwhile.
            sources[index].activity = .waiting(until: now.boot + wait)
        } else {
            rest(index, for: wait, at: now)
        }
    }

    private mutating func rest(_ index: Int, for wait: Duration, at now: Now) {
        if case .fetching(isHinted: true, _) = sources[index].activity {
            sources[index].activity = .waiting(until: now.boot)
        } else {
            sources[index].activity = .waiting(until: now.boot + wait)
        }
    }

    /// How soon the closed services of a source want it asked again; nil for the usual interval.
    private func pace(of index: Int) -> Duration? {
        let interval = sources[index].schedule.interval
        var pace: Duration?
        for user in wiring.users(of: index) {
            let isClosed = services[user.service].record?.verdict.gate == .closed
            let reading = services[user.service].switches[user.position].reading
            let own = (isClosed ? reading?.retryAfter : nil) ?? interval
            pace = pace.map { min($0, own) } ?? own
        }
        return pace
    }
}
