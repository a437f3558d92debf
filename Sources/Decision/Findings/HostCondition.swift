/// What is known beside the machine: the configuration, the daemon's own files and servers, and the gates.
package struct HostCondition: Sendable {
    /// Why the configuration on disk is not in force; nil if it is.
    package var refusal: String?
    /// What is wrong with the host, but for the gates.
    package var findings: [Finding] = []
    /// The state of the gates; nil if decisions move none.
    package var gates: GateOverview?
    /// What has become of the acknowledgements in the clusters that take some.
    package var acknowledgements: [SourceName: AcknowledgementCounts] = [:]

    /// Nothing is wrong, and decisions move no gates.
    package init() {}
}

/// What has become of the acknowledgements of this host in one cluster, since the daemon has started.
package struct AcknowledgementCounts: Hashable, Sendable {
    package let taken: Int
    package let failed: Int
    /// Whether the last put was taken; nil before the first has ended.
    package let isUp: Bool?
    /// How many services have something to tell that the cluster does not know.
    package let waiting: Int

    package init(taken: Int, failed: Int, isUp: Bool?, waiting: Int) {
        (self.taken, self.failed, self.isUp, self.waiting) = (taken, failed, isUp, waiting)
    }
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
