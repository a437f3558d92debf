import CivilTime
package import Decision
package import Gates

/// The metrics of a host, from the overview that `status` and the control socket print too.
package enum MetricsText {
    /// The text at the time of the overview, with the gates if decisions move any. `version` is that of the daemon.
    package static func bytes(
        of overview: Overview, _ gates: GateMachine?, version: String
    ) -> [UInt8] {
        var exposition = Exposition()
        for service in overview.services { exposition.add(service, of: overview, gates) }
        let held = overview.services.count { $0.isHeld }
        exposition.add(overview, version: version, held: held)
        for source in overview.sources {
            exposition.add(source, since: overview.instant(of: source.fetches.since))
        }
        return exposition.text()
    }
}

/// Differs whenever the metrics do, but for times and numbers of fetches.
package struct MetricsRevision: Hashable, Sendable {
    private let overview: OverviewRevision
    private let gates: Int
    private let host: Int

    /// The mark of a machine, how often the gates were published, and how often the findings about the host changed.
    package init(_ overview: OverviewRevision, gates: Int, host: Int = 0) {
        (self.overview, self.gates, self.host) = (overview, gates, host)
    }
}

extension Exposition {
    /// Adds what concerns the whole host.
    fileprivate mutating func add(_ overview: Overview, version: String, held: Int) {
        add(.buildInfo, Labels().adding("version", LabelText.shortened(version)), 1)
        add(.alive, Labels(), overview.now.wall)
        add(.configurationRefused, Labels(), overview.condition.refusal != nil)
        add(.movesGates, Labels(), overview.condition.gates != nil)
        add(.closingsHeld, Labels(), held)
        let counts = overview.alarmCounts
        for kind in Finding.Kind.allCases where kind.isOfADaemon {
            add(.problems, Labels().adding("kind", kind.rawValue), counts[kind] ?? 0)
        }
        for guardian in overview.guards {
            add(
                .guardPasses, Labels().adding("guard", guardian.name.text),
                guardian.answer == .passes)
        }
    }

    /// Adds a source. `start` is when its fetches began to be counted.
    fileprivate mutating func add(_ source: Overview.SourceView, since start: Instant) {
        let labels = Labels().adding("source", source.name.text)
        add(.sourceUp, labels, source.isUp)
        add(.sourceInterval, labels, source.interval)
        add(.flagsConfirmed, labels, source.confirmedAt)
        for (word, count) in source.fetches.byResult {
            let labels = labels.adding("result", word)
            add(.fetches, labels, count)
            add(.fetchesCreated, labels, start)
        }
    }

    /// Adds a service, and its gate where the daemon moves one and knows it.
    fileprivate mutating func add(
        _ service: Overview.ServiceView, of overview: Overview, _ gates: GateMachine?
    ) {
        let labels = Labels().adding("service", service.name.text)
        for state in State.allCases {
            add(.serviceState, labels.adding("state", state.rawValue), state == service.state)
        }
        if service.isHeld { add(.closingHeld, labels, 1) }
        if let name = service.heldBy { add(.stepHeld, labels.adding("guard", name.text), 1) }
        if let gate = gates?.view(of: service.name, at: overview.now.boot) {
            add(gate, labels)
            let end = gate.report.drainsUntil.map { overview.instant(of: $0).asPublished }
            add(.drainEnd, labels, end)
        }
        if let drill = service.drill {
            add(.drill, labels, drill.result.at.asPublished)
            add(.drillSuccess, labels, drill.result.isGood)
            add(.drillLastSuccess, labels, drill.lastGood?.asPublished)
        }
        if let runbook = service.runbook { add(.runbookInfo, labels.adding("url", runbook), 1) }
        guard let record = service.record else { return }
        let verdict = record.verdict
        add(.reasonInfo, labels.adding("reason", verdict.reason.slug.rawValue), 1)
        add(.stateChanges, labels, record.generation)
        if verdict.isEnforced {
            add(.gateWantedOpen, labels, verdict.gate.map { $0 == .open })
        } else {
            add(.wouldClose, labels, verdict.gate.map { $0 == .closed })
        }
        add(.daysLeft, labels, verdict.daysLeft)
        add(.end, labels, verdict.endsAt?.asPublished)
        if let source = verdict.source {
            let version = LabelText.shortened(verdict.version ?? "")
            var facts = labels.adding("source", source.text).adding("version", version)
            if !verdict.authors.isEmpty {
                let author = LabelText.shortened(verdict.authors.joined(separator: ","))
                facts = facts.adding("author", author)
            }
            add(.flagsInfo, facts, 1)
        }
        if let override = verdict.override {
            let labels = labels.adding("state", override.state.rawValue)
            add(.overrideSince, labels, override.since.asPublished)
            add(.overrideEnd, labels, override.until?.asPublished)
        }
    }

    private mutating func add(_ gate: GateView, _ labels: Labels) {
        let units = gate.report.units
        add(.gateOpen, labels, gate.report.isOpen)
        add(.units, labels, units.total)
        add(.unitsUnwanted, labels, units.unwanted.count)
        for unit in units.unwanted.sorted() {
            add(.unitUnwanted, labels.adding("unit", unit.text), 1)
        }
        // A gate without units has none to refuse.
        if units.total > 0 || gate.refusedStarts > 0 {
            add(.refusedStarts, labels, gate.refusedStarts)
        }
        add(.lastStop, labels, gate.moves[.closed])
        add(.lastStart, labels, gate.moves[.open])
    }
}

extension Instant {
    /// The whole second, as `state.json` and `status` have it.
    fileprivate var asPublished: Instant { Instant(seconds: seconds) }
}

extension GateStatus {
    /// Whether the gate is open in fact: until a move has ended, as it was before. Nil if the daemon moves no gates.
    fileprivate var isOpen: Bool? {
        guard let actual else { return nil }
        return wanted == .open ? actual == .open : actual != .closed
    }
}

extension Finding.Kind {
    /// Whether a running daemon can have it: the others are found by killswitchctl.
    fileprivate var isOfADaemon: Bool { self != .noDaemon && self != .unreadableState }
}
