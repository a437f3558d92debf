package import CivilTime

/// One service as configured: what is switched, by which switches, under which policy.
package struct Service: Hashable, Sendable {
    package var name: ServiceName
    /// The zone whose calendar counts the days, and in which a date without an offset is read.
    package var zone: Zone
    /// At least one. The most restrictive of them wins.
    package var switches: [Switch]
    package var policy: Policy

    package init(
        name: ServiceName, zone: Zone, switches: [Switch], policy: Policy = Policy()
    ) {
        self.name = name
        self.zone = zone
        self.switches = switches
        self.policy = policy
    }
}

/// One reading of one source's flags, by a format.
package struct Switch: Hashable, Sendable {
    package var source: SourceName
    package var format: Format

    package init(source: SourceName, format: Format) {
        self.source = source
        self.format = format
    }
}

/// A source as far as the decision knows it: when it is asked, and how long that may take.
package struct SourcePlan: Hashable, Sendable {
    package var name: SourceName
    package var interval: Duration
    /// A fetch that takes longer than this is not going on any more.
    package var timeout: Duration
    /// What is asked, in any words. A source of the same name that asks something else is another
    /// one: what the old one said does not count for it.
    package var address: String

    package init(
        name: SourceName, interval: Duration, timeout: Duration = .seconds(30),
        address: String = ""
    ) {
        self.name = name
        self.interval = interval
        self.timeout = timeout
        self.address = address
    }
}

/// Everything the machine runs on: what the configuration says, less how flags are fetched.
package struct Plan: Hashable, Sendable {
    package var sources: [SourcePlan]
    package var services: [Service]

    package init(sources: [SourcePlan], services: [Service]) {
        self.sources = sources
        self.services = services
    }
}
