import CivilTime

extension Machine {
    /// What speaks against an order that is for an open gate alone; nil where nothing does.
    package func objection(to name: ServiceName) -> Objection? {
        if let override = overrides[name] { return .forced(override) }
        guard let index = wiring.service(name), let verdict = services[index].record?.verdict,
            verdict.gate == .open
        else { return .notOpen(record(of: name)?.verdict.state ?? .undecided) }
        return services[index].hold == .held ? .held : nil
    }

    /// Decides what time alone has brought, so that an order which asks how things stand is told how
    /// they stand now.
    mutating func catchUp(at now: Now, _ batch: inout Batch) {
        expireOverrides(at: now, &batch)
        decideDue(at: now, &batch)
    }

    /// Takes in what an operator orders. It is on disk before it is acted on.
    mutating func order(
        _ override: Override, for name: ServiceName, ifOpen: Bool, _ batch: inout Batch
    ) {
        guard wiring.service(name) != nil, overrides[name] != override else { return }
        if ifOpen, objection(to: name) != nil { return }
        replace(overrideOf: name, with: override, &batch)
        batch.notices.append(.overridden(name, override))
    }

    /// Lets the flags of a service decide again; nothing where they do already. With a cause, an order
    /// that somebody gave for another one stays.
    mutating func release(
        _ name: ServiceName, by author: String, only cause: String?, _ batch: inout Batch
    ) {
        guard let override = overrides[name], cause.map(override.isGiven(for:)) ?? true else {
            return
        }
        replace(overrideOf: name, with: nil, &batch)
        batch.notices.append(.released(name, override, by: author))
    }

    /// Forgets overrides whose time is over, once that is sure.
    mutating func expireOverrides(at now: Now, _ batch: inout Batch) {
        guard !overrides.isEmpty else { return }
        let expired = overrides.filter {
            $0.value.until <= now.wall && isClockBelieved(by: $0.key, now)
        }
        for (name, override) in expired.sorted(by: { $0.key < $1.key }) {
            replace(overrideOf: name, with: nil, &batch)
            batch.notices.append(.overrideExpired(name, override))
        }
    }

    private func isClockBelieved(by name: ServiceName, _ now: Now) -> Bool {
        guard let index = wiring.service(name) else { return trust.believes(now) }
        return circumstances(of: services[index], at: now).isClockBelieved
    }

    private mutating func replace(
        overrideOf name: ServiceName, with override: Override?, _ batch: inout Batch
    ) {
        overrides[name] = override
        batch.areOverridesChanged = true
        guard let index = wiring.service(name) else { return }
        services[index].isDue = true
    }
}
