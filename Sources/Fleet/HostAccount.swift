package import CivilTime
package import Decision

/// A host of a fleet, as a reader knows it.
package struct FleetHost: Hashable, Sendable {
    /// What others call it: the address that Prometheus scrapes, the name of its file, or the key of etcd.
    package let id: String
    /// The name that is shown: that of the inventory; without one that which the host gives itself.
    package let name: String
    /// Other forms of `id` that an inventory may have for it.
    package let aliases: [String]

    package init(id: String, name: String? = nil, aliases: [String] = []) {
        (self.id, self.name, self.aliases) = (id, name ?? id, aliases)
    }
}

/// What is known of a host at one moment.
package struct HostFinding: Hashable, Sendable {
    package let host: FleetHost
    package let content: Content

    package enum Content: Hashable, Sendable {
        case account(HostAccount)
        /// It gives no sign of life: a clause that says since when.
        case silent(String)
        /// It is not known whether it has obeyed: a clause that says why.
        case unknown(String)
    }

    package init(_ host: FleetHost, _ content: Content) {
        (self.host, self.content) = (host, content)
    }
}

/// What a host tells of a service. A reader gives it only for a host that is alive, and whose facts are of one moment.
package struct HostAccount: Hashable, Sendable {
    package var state: State
    /// As it was decided; nil while undecided.
    package var gate: Gate?
    /// The word of the reason, where the reader knows it.
    package var reason: String?
    /// The version of the flags that have decided; nil where no flags have, as behind an operator's order.
    package var version: String?
    /// How far the gate and its units are with that decision.
    package var effect: Effect
    /// Why another decision may be due that this host does not have, such as that its flags are old; nil without cause.
    package var warning: String?
    /// Why a decision will not come by itself, such as a closing that the host guard holds; nil without such a thing.
    package var obstacle: String?
    /// When the host has said so, by the clock of the reader; nil where that is not known.
    package var at: Instant?

    package init(
        state: State, gate: Gate?, reason: String? = nil, version: String? = nil, effect: Effect,
        warning: String? = nil, obstacle: String? = nil, at: Instant? = nil
    ) {
        (self.state, self.gate, self.reason, self.version) = (state, gate, reason, version)
        (self.effect, self.warning, self.obstacle, self.at) = (effect, warning, obstacle, at)
    }

    package enum Effect: Hashable, Sendable {
        package static let withoutGates: Self = .unmoved(
            "killswitchd was started without --gates there, and moves no gate")
        package static let observed: Self = .unmoved(
            "the service has 'enforce = false' there, and its gate is not moved")

        /// The gate and every attached unit are as decided, as systemd shows them.
        case complete
        /// Not yet, and it may come by itself: a clause that says what is missing.
        case underWay(String)
        /// Not, and it will not come by itself: a clause that names the gate or the unit.
        case failed(String)
        /// Nobody moves the gate: a clause that says why.
        case unmoved(String)
        /// It is not known: a clause that says why.
        case unknown(String)
    }
}
