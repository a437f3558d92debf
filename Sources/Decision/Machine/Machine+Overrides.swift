import CivilTime

extension Machine {
    /// Takes in what an operator orders, or releases. It is on disk before it is acted on.
    mutating func order(_ override: Override?, for name: ServiceName, _ batch: inout Batch) {
        guard let index = wiring.service(name), overrides[name] != override else { return }
        overrides[name] = override
        services[index].isDue = true
        batch.areOverridesChanged = true
    }

    /// Forgets overrides whose time is over, once that is sure.
    mutating func expireOverrides(at now: Now, _ batch: inout Batch) {
        guard !overrides.isEmpty, trust.believes(now) else { return }
        for (name, override) in overrides where override.until <= now.wall {
            overrides[name] = nil
            batch.areOverridesChanged = true
            guard let index = wiring.service(name) else { continue }
            services[index].isDue = true
        }
    }
}
