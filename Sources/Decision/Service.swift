package import CivilTime
import JSON

/// One service as configured: its name, its zone, its switches and its policy.
package struct Service: Hashable, Sendable {
    package var name: ServiceName
    /// The zone whose calendar counts the days, and in which a date without an offset is read.
    package var zone: Zone
    /// Why the file of its zone is not what counts; nil if it is.
    package var zoneProblem: ZoneProblem?
    /// At least one. The most restrictive of them wins.
    package var switches: [Switch]
    package var policy: Policy
    /// The source of the installed version: the configuration or a file; nil if unknown.
    package var installed: InstalledVersion?
    package var activation = Activation.immediate
    /// Whether its verdict is made true. If not, it is decided and told, and nothing of the host is touched.
    package var isEnforced = true
    /// The value of the type `word` that names the service's variant.
    package var variant: RemoteValue?
    /// How long before an end or a window people are told; without any, nobody is.
    package var notifyBefore: [Duration] = []
    /// Whether units are started at each change of its state.
    package var announcesChanges = false
    /// The address of the page that says what to do when it is closed; nil without one.
    package var runbook: String?
    /// The remote values in the order of the configuration.
    package var values: [RemoteValue] = []

    /// A service with the default policy unless given; `switches` must not be empty.
    package init(name: ServiceName, zone: Zone, switches: [Switch], policy: Policy = Policy()) {
        self.name = name
        self.zone = zone
        self.switches = switches
        self.policy = policy
    }

    /// The variant, if there is one, and the values.
    var remote: [RemoteValue] { (variant.map { [$0] } ?? []) + values }

    /// The version of an answer for this service: where each flag has a number, the highest that the service reads.
    func version(of answer: Answer, from source: SourceName) -> String? {
        switch answer.version {
        case nil: nil
        case .ofAll(let version): version
        case .ofEach(let numbers):
            (switches.filter { $0.source == source }
                .flatMap { $0.format.relevant(in: answer.flags).map(\.key) }
                + remote.filter { $0.source == source }.map(\.key))
                .compactMap { numbers[$0]?.number?.int64 }.max().map(String.init)
        }
    }
}

/// The file of a time zone cannot be read.
package struct ZoneProblem: Hashable, Sendable {
    /// What is wrong, and what counts instead, as a clause.
    package let text: String
    /// What to do about it, as a clause.
    package let advice: String

    /// This problem with this advice.
    package init(_ text: String, advice: String) {
        (self.text, self.advice) = (text, advice)
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
