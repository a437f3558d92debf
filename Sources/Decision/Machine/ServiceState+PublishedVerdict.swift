import CivilTime

/// What is published and stored of a decision.
extension ServiceState {
    /// Whether the files have to be written: the verdict or the end of the drain changed, or their
    /// next edge has come or comes sooner. A poll without news writes nothing. After a reload a
    /// service keeps its verdict until a new switch has an answer.
    func mustPublish(
        _ verdict: Verdict, _ edge: Instant, _ window: Window?, at now: Now
    ) -> Bool {
        guard let record else { return true }
        if verdict.state == .undecided, record.verdict.state != .undecided { return false }
        return record.verdict != verdict || record.nextWindow != window
            || record.drainsUntil != drainsUntil
            || record.nextEdge <= now.wall
            || edge + .seconds(1) < record.nextEdge
    }

    /// The entry of a new decision in the ledger.
    func newEntry(of verdict: Verdict, isHeld: Bool, on host: HostState) -> Ledger.Entry {
        let (known, now) = (entry, host.now.wall)
        let isChange = known?.state != verdict.state
        var entry = Ledger.Entry(
            state: verdict.state, since: isChange ? now : known?.since ?? now,
            generation: (known?.generation ?? 0) + (isChange ? 1 : 0), bootID: host.bootID,
            isHeld: isHeld)
        (entry.announced, entry.drill) = (isChange ? [:] : known?.announced, known?.drill)
        return entry
    }

    /// The record of a new decision with this entry in the ledger.
    func newRecord(
        of verdict: Verdict, _ entry: Ledger.Entry, _ edge: Instant, _ window: Window?, at now: Now
    ) -> PublishedVerdict {
        PublishedVerdict(
            verdict: verdict, since: entry.since, generation: entry.generation,
            decidedAt: now.wall, fetchedAt: fetchedAt(verdict), nextEdge: edge, nextWindow: window,
            notices: hasNewNotices ? publicNotices.pending : record?.notices ?? [],
            drainsUntil: drainsUntil)
    }

    /// When the flags of a verdict were fetched; nil if it rests on none.
    private func fetchedAt(_ verdict: Verdict) -> Instant? {
        guard let source = verdict.source,
            let position = service.switches.firstIndex(where: { $0.source == source })
        else { return nil }
        return switches[position].answer?.answer.fetchedAt
    }
}
