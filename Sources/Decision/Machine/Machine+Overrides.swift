import CivilTime

extension Machine {
    /// Takes in what an operator orders. It is on disk before it is acted on.
    mutating func order(_ override: Override, for name: ServiceName, _ batch: inout Batch) {
        guard wiring.service(name) != nil, overrides[name] != override else { return }
        replace(overrideOf: name, with: override, &batch)
        batch.notices.append(.overridden(name, override))
    }

    /// Lets the flags of a service decide again; nothing where they do already.
    mutating func release(_ name: ServiceName, by author: String, _ batch: inout Batch) {
        guard let override = overrides[name] else { return }
        replace(overrideOf: name, with: nil, &batch)
        batch.notices.append(.released(name, override, by: author))
    }

    /// Forgets overrides whose time is over, once that is sure.
    mutating func expireOverrides(at now: Now, _ batch: inout Batch) {
        guard !overrides.isEmpty, trust.believes(now) else { return }
        let expired = overrides.filter { $0.value.until <= now.wall }
        for (name, override) in expired.sorted(by: { $0.key < $1.key }) {
            replace(overrideOf: name, with: nil, &batch)
            batch.notices.append(.overrideExpired(name, override))
        }
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
