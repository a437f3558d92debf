package import CivilTime
import JSON

/// One service as configured: its name, its zone, its switches and its policy.
package struct Service: Hashable, Sendable {
    package var name: ServiceName
    /// The zone whose calendar counts the days, and in which a date without an offset is read.
    package var zone: Zone
    /// At least one. The most restrictive of them wins.
    package var switches: [Switch]
    package var policy: Policy
    /// The source of the installed version: the configuration or a file; nil if unknown.
    package var installed: InstalledVersion?
    package var activation = Activation.immediate
    /// The value of the type `word` that names the service's variant.
    package var variant: RemoteValue?
    /// How long before an end or a window people are told; without any, nobody is.
    package var notifyBefore: [Duration] = []
    /// The remote values in the order of the configuration.
    package var values: [RemoteValue] = []

    /// A service with the default policy unless given; `switches` must not be empty.
    package init(name: ServiceName, zone: Zone, switches: [Switch], policy: Policy = Policy()) {
        self.name = name
        self.zone = zone
        self.switches = switches
        self.policy = policy
    }
}

extension Service {
    /// The variant, if there is one, and the values.
    var remote: [RemoteValue] { (variant.map { [$0] } ?? []) + values }

    /// The subset of a source's flags that its switches and values read, unchanged.
    func relevant(in flags: JSON.Object, of source: SourceName) -> JSON.Object {
        var found = JSON.Object()
        for plan in switches where plan.source == source {
            for (key, value) in plan.format.relevant(in: flags) { found[key] = value }
        }
        for plan in remote where plan.source == source {
            if let value = flags[plan.key] { found[plan.key] = value }
        }
        return found
    }

    /// The version of an answer of `source` for this service: where each flag has a number, the
    /// highest of the flags that the service reads.
    func version(of answer: Answer, from source: SourceName) -> String? {
        switch answer.version {
        case nil: nil
        case .ofAll(let version): version
        case .ofEach(let numbers):
            relevant(in: answer.flags, of: source).compactMap { numbers[$0.key]?.number?.int64 }
                .max().map(String.init)
        }
    }
}

/// When the flags of a new answer take force.
package enum Activation: String, CaseIterable, Sendable {
    case immediate
    /// At the next start or by `activate`, so that nothing changes under a running service.
    case nextStart = "next-start"
}

/// One reading of one source's flags, by a format.
package struct Switch: Hashable, Sendable {
    package var source: SourceName
    package var format: Format

    /// A switch that reads the flags of `source` by `format`.
    package init(source: SourceName, format: Format) {
        self.source = source
        self.format = format
    }
}
