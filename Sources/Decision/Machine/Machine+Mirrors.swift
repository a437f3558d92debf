import CivilTime

/// What the fetches of mirrors mean for their source.
extension Machine {
    /// Begins a fetch at the mirror whose turn it is. False for a source without mirrors.
    mutating func startMirror(of source: Int) -> Bool {
        let newest = newestRead(of: source)?.signed?.order.version
        guard
            let (mirror, known) = sources[source].startMirror(
                newest: newest, at: now, using: &random)
        else { return false }
        batch.add(.fetch(sources[source].name, known, mirror: mirror))
        return true
    }

    /// A mirror has answered, or failed. True if that ends the fetch: it is behind, or confirms the flags in force
    /// while another mirror has a newer document, which waits for signatures or for more answers.
    mutating func endMirrorFetch(of source: Int, by outcome: Outcome) -> Bool {
        if sources[source].isMirrorBehind(by: outcome, at: now) {
            _ = mirrorMissed(of: source, nil)
            return true
        }
        guard sources[source].confirmsBesideNewer(outcome) else { return false }
        for reader in index.switches[source] { services[reader.service].markDue() }
        sources[source].confirmAnswer(at: now)
        sources[source].fetches.unchanged += 1
        batch.add(.markConfirmed(sources[source].name))
        batch.messages += sources[source].fetchSucceeded()
        scheduleNextFetch(of: source)
        return true
    }

    /// A mirror has failed, or is behind if there is no `failure`. Returns the failure of the source: where all mirrors
    /// fail, the source backs off as one without mirrors does.
    mutating func mirrorMissed(of source: Int, _ failure: Failure?) -> Failure? {
        guard sources[source].mirrors != nil else { return failure }
        let (common, messages) = sources[source].mirrorMissed(failure, at: now)
        batch.messages += messages
        if common == nil {
            batch.messages += sources[source].scheduleNextMirror(at: now, using: &random)
        }
        return common
    }
}

extension SourceState {
    /// What others see of its mirrors.
    var mirrorViews: [Overview.MirrorView] {
        mirrors?.views(highest: documents.highest?.number) ?? []
    }

    /// The mirror for the fetch that has just begun, with its own validators; nil without mirrors. `newest` is the
    /// version of the newest answer, if each switch has read it.
    mutating func startMirror(
        newest: Int64?, at now: Now, using random: inout SeededRandom
    ) -> (mirror: Int, validators: Validators)? {
        let highest = documents.highest?.number
        return mirrors?.start(newest: newest, highest: highest, at: now.boot, using: &random)
    }

    /// Whether the mirror in flight gives an older document than the highest.
    mutating func isMirrorBehind(by outcome: Outcome, at now: Now) -> Bool {
        let documents = documents
        return mirrors?.isBehind(by: outcome, documents, at: now.wall) ?? false
    }

    /// Whether an outcome repeats the newest answer while another mirror has a document of a higher version.
    func confirmsBesideNewer(_ outcome: Outcome) -> Bool {
        guard let newest = answers.first?.answer, let version = newest.signed?.order.version,
            mirrors?.isNewerElsewhere(than: version) == true
        else { return false }
        switch outcome {
        case .answer(let answer): return answer.repeats(newest) && documents.isProved(newest)
        case .unchanged: return true
        case .failure: return false
        }
    }

    /// Notes that the mirror in flight has failed, or is behind without a `failure`. Returns the failure that all
    /// mirrors have in common, and messages about new problems.
    mutating func mirrorMissed(_ failure: Failure?, at now: Now) -> (Failure?, [LogMessage]) {
        if let failure {
            let pause = plan.maxBackoff ?? Schedule.usualBackOff(of: plan.interval)
            mirrors?.fetchFailed(failure, pause: pause, at: now)
        }
        let common = mirrors?.commonFailure(at: now.boot)
        if let failure {
            if common == nil { fetches.count(failure) }
        } else {
            fetches.unchanged += 1
        }
        return (common, updateMirrorProblems())
    }
}
