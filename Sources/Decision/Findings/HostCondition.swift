/// What is known beside the machine: the configuration, the daemon's own files and servers, and the gates.
package struct HostCondition: Sendable {
    /// Why the configuration on disk is not in force; nil if it is.
    package var refusal: String?
    /// What is wrong with the host, but for the gates.
    package var findings: [Finding] = []
    /// The state of the gates; nil if decisions move none.
    package var gates: GateOverview?
    /// Nothing is wrong, and decisions move no gates.
    package init() {}
}

/// The state of all gates at one moment, for the daemon's status.
package struct GateOverview: Hashable, Sendable {
    /// Whether systemd has answered for every service that is decided, or cannot be reached.
    package var isReady: Bool
    /// What is wrong: with the bus, then with gates, then with the starts for notices, then with units.
    package let findings: [Finding]

    /// The state of gates with these findings.
    package init(isReady: Bool, findings: [Finding]) {
        self.isReady = isReady
        self.findings = findings
    }
}
