package import CivilTime

/// One service as configured: what is switched, by which switches, under which policy.
package struct Service: Hashable, Sendable {
    package var name: ServiceName
    /// The zone whose calendar counts the days, and in which a date without an offset is read.
    package var zone: Zone
    /// At least one. The most restrictive of them wins.
    package var switches: [Switch]
    package var policy: Policy
    /// Where the version of what it runs is known from.
    package var installed: InstalledVersion?
    package var activation: Activation
    package var variant: RemoteValue?
    package var values: [RemoteValue]

    package init(
        name: ServiceName, zone: Zone, switches: [Switch], policy: Policy = Policy(),
        installed: InstalledVersion? = nil, activation: Activation = .immediate,
        variant: RemoteValue? = nil, values: [RemoteValue] = []
    ) {
        self.name = name
        self.zone = zone
        self.switches = switches
        self.policy = policy
        self.installed = installed
        self.activation = activation
        self.variant = variant
        self.values = values
    }
}

/// When the flags of a new answer take force.
package enum Activation: String, CaseIterable, Sendable {
    case immediate
    /// At the next start or when it is asked for, so that nothing changes under a running service.
    case nextStart = "next-start"
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
