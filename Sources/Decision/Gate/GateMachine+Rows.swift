import CivilTime

/// What there is to say of gates at one moment.
package struct GateOverview: Hashable, Sendable {
    /// Whether systemd has answered for every service that is decided, or cannot be reached.
    package var isReady: Bool
    /// What is wrong, a clause each.
    package var problems: [String]

    package init(isReady: Bool = true, problems: [String] = []) {
        self.isReady = isReady
        self.problems = problems
    }
}

extension GateMachine {
    /// How things stand.
    package var overview: GateOverview {
        var problems = lossSaid.map { ["gates: \($0)"] } ?? []
        for name in services.keys.sorted() where services[name]?.isAlarmSaid == true {
            problems.append("\(name): the gate cannot be moved, see the journal")
        }
        for (name, unit) in units.sorted(by: { $0.key < $1.key }) {
            guard let problem = unit.problem else { continue }
            switch problem {
            case .late, .failed: problems.append("\(name): \(problem.sentence)")
            case .killed, .intruding: break
            }
        }
        return GateOverview(
            isReady: services.values.allSatisfy { $0.heardBy == nil }, problems: problems)
    }

    /// The rows that changed, of the services something happened to; a little later where they were
    /// written a moment ago.
    mutating func publications(_ batch: GateBatch, at now: Boottime) -> [GateEffect] {
        var touched = batch.services
        for unit in batch.units { touched.formUnion(holdingServices(unit)) }
        var effects: [GateEffect] = []
        for name in touched.sorted() {
            guard let service = services[name], isRead(name) else { continue }
            if let last = service.publishedAt, now - last < Self.publishInterval {
                services[name]?.isPublishDue = true
                continue
            }
            services[name]?.isPublishDue = false
            let rows = rows(of: name)
            guard rows != service.published else { continue }
            if service.published != nil { services[name]?.isUnpublishedSaid = false }
            services[name]?.published = rows
            services[name]?.publishedAt = now
            effects.append(.publish(name, rows))
        }
        return effects
    }

    /// What could not be written is tried again a little later.
    mutating func noteUnpublished(
        _ name: ServiceName, _ problem: String, at now: Boottime, _ batch: inout GateBatch
    ) {
        guard let service = services[name] else { return }
        services[name]?.published = nil
        services[name]?.isPublishDue = true
        services[name]?.publishedAt = now + .seconds(5)
        services[name]?.isUnpublishedSaid = true
        if !service.isUnpublishedSaid {
            batch.notices.append(.unpublished(name, problem: problem))
        }
    }

    private func isRead(_ name: ServiceName) -> Bool {
        [GateTarget.Kind.open, .closed].allSatisfy {
            targets[GateTarget(service: name, kind: $0)]?.isRead ?? false
        }
    }

    private func rows(of name: ServiceName) -> [UnitRow] {
        attached(to: name).sorted().compactMap { unit in
            guard let known = units[unit] else { return nil }
            let isWanted: Bool? =
                switch judgement(on: known) {
                case .mustStop: false
                case .mayRun: known.starters.isEmpty ? nil : true
                case .open: nil
                }
            return UnitRow(
                name: unit, isWanted: isWanted, seen: known.seen, took: known.took,
                problem: known.problem?.sentence)
        }
    }
}
