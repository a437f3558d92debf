/// What an answer asks for at the switches of its source, as far as it is done.
///
/// An answer may have many readers, and take long at each. Its work is done in shares: when a share is full, other
/// events have their turn, and the next wake-up goes on.
struct AnswerWork: Sendable {
    /// What is done with each switch.
    enum Step {
        /// Ask whether a document of this higher version would count for it. If it does for one, the version is stored.
        case weigh(AcceptedVersion)
        case offer
        /// The source has confirmed its newest answer. A switch without it is offered it with these authors.
        case confirmAnswer(by: [String]?)
    }

    let step: Step
    let source: Int
    /// Nil for a confirmation, as long as each switch rests on the newest answer.
    var answer: SharedAnswer?
    var changes: FlagChanges?
    /// How many switches have had it.
    var count = 0
    /// Whether a switch has accepted the answer, and whether each has.
    var isKept = false
    var isKeptByAll = true
    /// Whether it was put before the other answers of the source.
    var isInserted = false
}

/// The part of the loop's time that one event may take, in about as many microseconds as its work needs. It counts work
/// and not time, so that the same events always have the same effects.
struct Share: Sendable {
    private var spent = 0
    private static let size = 6000

    /// How many services are decided in a share.
    static let decisions = 40

    /// Whether other events have their turn first.
    var isOver: Bool { spent >= Self.size }

    /// Counts a switch, and what was read and compared for it in an answer of so many bytes.
    mutating func count(_ work: Workload = Workload(), of size: Int = 0, isOffer: Bool) {
        spent += isOffer ? Self.size / Self.decisions : 1
        spent += (work.readings + work.likenesses) * (100 + size / 200) + work.comparisons * 5000
    }
}

extension Machine {
    /// Whether some readers of a source have not had its newest answer yet.
    package func isOffering(_ source: SourceName) -> Bool {
        !unfinished.isEmpty && unfinished.contains { sources[$0.source].name == source }
    }

    /// Whether answers or services wait for their turn.
    package var hasUnfinishedWork: Bool { !unfinished.isEmpty || !backlog.isEmpty }

    /// Goes on with the answer that has the fewest switches before it, so that a small one never waits for a large
    /// one. Returns its source if that has answered with this.
    mutating func resumeWork() -> Int? {
        let left = unfinished.map { index.switches[$0.source].count - $0.count }
        guard let next = left.indices.min(by: { left[$0] < left[$1] }) else { return nil }
        return advance(unfinished.remove(at: next))
    }

    /// Ends all unfinished work, or the work of one source: the next step changes the answers or their readers.
    mutating func finishWork(of source: Int? = nil) {
        while let next = unfinished.firstIndex(where: { source == nil || $0.source == source }) {
            share = Share()
            if let answered = advance(unfinished.remove(at: next)) {
                scheduleNextFetch(of: answered)
            }
        }
    }

    /// Hands an answer to the switches of its source until the share is over. Returns the source if it has answered
    /// with this. The work is never copied: what was read of an answer is as large as its switches are many.
    mutating func advance(_ work: consuming AnswerWork) -> Int? {
        let readers = index.switches[work.source]
        while work.count < readers.count {
            if share.isOver {
                pause(work)
                return nil
            }
            work.count += 1
            if hand(&work, to: readers[work.count - 1]) { return nil }
        }
        return finish(work)
    }

    /// Hands an answer to one switch. True if that ends the work.
    private mutating func hand(_ work: inout AnswerWork, to reader: SwitchPosition) -> Bool {
        let age = sources[work.source].ageOnArrival
        switch work.step {
        case .confirmAnswer(let authors):
            let number = sources[work.source].answers[0].number
            if services[reader.service].confirmAnswer(number, at: reader.position, now, aged: age) {
                share.count(isOffer: false)
                return false
            }
            if work.answer == nil { work.answer = sources[work.source].shareNewest(by: authors) }
        case .offer:
            if let changes = work.changes,
                services[reader.service].replaceAnswer(
                    ifUnaffectedBy: changes, at: reader.position, now, aged: age)
            {
                work.isKept = true
                share.count(isOffer: false)
                return false
            }
        case .weigh: break
        }
        // Taken out of the work, so that nothing of it is copied.
        guard var answer = work.answer else { return false }
        work.answer = nil
        answer.work = Workload()
        let isAccepted: Bool
        if case .weigh = work.step {
            isAccepted = services[reader.service].wouldCount(&answer, at: reader.position, on: host)
        } else {
            isAccepted = services[reader.service].offer(
                &answer, to: reader.position, work.changes, on: host, aged: age, &batch.messages)
        }
        share.count(answer.work, of: answer.answer.body.count, isOffer: true)
        workload += answer.work
        work.answer = answer
        if case .weigh(let version) = work.step, isAccepted {
            sources[work.source].remember(answer)
            awaitVersion(answer.answer, of: work.source, version)
            return true
        }
        if isAccepted { work.isKept = true } else { work.isKeptByAll = false }
        return false
    }

    /// Leaves an answer until its next turn. The flags are on disk before a switch acts on them.
    private mutating func pause(_ work: consuming AnswerWork) {
        workload.pauses += 1
        if case .offer = work.step, work.isKept, !work.isInserted, let answer = work.answer {
            batch.messages += sources[work.source].insert(answer.numbered, at: now)
            work.isInserted = true
            store(work.source)
        }
        unfinished.append(work)
    }

    /// Ends the work of an answer that each switch has had. Returns the source if it has answered with this.
    private mutating func finish(_ work: consuming AnswerWork) -> Int? {
        let source = work.source
        switch work.step {
        case .weigh:
            sources[source].remember(work.answer)
            return work.answer.flatMap { answerArrived($0.answer, from: source) }
        case .offer:
            sources[source].remember(work.isKeptByAll ? nil : work.answer)
            if !work.isKept {
                sources[source].fetches.invalid += 1
            } else if let answer = work.answer {
                sources[source].fetches.changed += 1
                updateVersionJumps(of: source)
                if !work.isInserted {
                    batch.messages += sources[source].insert(answer.numbered, at: now)
                }
                dropUnused(of: source)
                batch.add(.markConfirmed(sources[source].name))
                store(source)
                if host.trust.believes(now) { host.trust.raiseFloor(to: answer.answer.fetchedAt) }
            }
        case .confirmAnswer:
            sources[source].confirmAnswer(at: now)
            sources[source].fetches.unchanged += 1
            batch.add(.markConfirmed(sources[source].name))
            if let answer = work.answer { sources[source].remember(answer) }
            if work.isKept {
                updateVersionJumps(of: source)
                dropUnused(of: source)
                store(source)
            }
        }
        batch.messages += sources[source].fetchSucceeded()
        return source
    }

    /// The services to decide now, in their order: services of the backlog come last. All services that the host guard
    /// has to judge together are decided together.
    mutating func dueServices(all isWhole: Bool) -> [Int] {
        // What the present event has changed comes first, whatever waited before.
        let late = backlog.isEmpty ? [] : Set(backlog).subtracting(services.justChanged)
        var due = services.due(at: now)
        if hostGuard.isLimited, !unfinished.isEmpty {
            let others = Set(
                unfinished.flatMap { work in
                    index.switches[work.source].prefix(work.count).map(\.service)
                })
            due.removeAll { others.contains($0) }
        }
        if !late.isEmpty {
            due = due.filter { !late.contains($0) } + due.filter { late.contains($0) }
        }
        let count = isWhole || hostGuard.isLimited ? due.count : min(due.count, Share.decisions)
        backlog = Array(due[count...])
        return count < due.count ? Array(due[..<count]) : due
    }
}
