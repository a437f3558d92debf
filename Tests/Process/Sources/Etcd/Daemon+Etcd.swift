import Support

extension Daemon {
    /// A daemon on the keys `/flags/…` of a cluster. By default it polls once an hour: it sees earlier
    /// changes by its watch. `source` and `service` are additional lines of those tables.
    convenience init(
        on cluster: EtcdCluster, interval: String = "1h", timeout: String = "6s",
        source: String = "", service: String = "", after: String = "", members: Int? = nil
    ) throws {
        try self.init(
            source: """
                type = "etcd"
                endpoints = \(cluster.endpoints(members ?? cluster.members.count))
                prefix = "/flags/"
                interval = "\(interval)"
                timeout = "\(timeout)"
                \(source)
                """, service: "format = \"status\"\nkey = \"shop\"\n\(service)\n\(after)")
    }
}

extension EtcdCluster {
    /// Puts the flags of a service that is in this state.
    func put(_ state: StatusFlags, of service: String = "shop") throws {
        try control("put", "/flags/\(service)", state.text)
    }

    /// Puts the flags, and waits until the daemon has taken them.
    func put(_ state: StatusFlags, for daemon: Daemon) async throws {
        try put(state)
        try await daemon.awaitState(state.rawValue)
    }

    /// The same, with retries of the put until there is a leader again.
    func putWhenPossible(_ state: StatusFlags, for daemon: Daemon) async throws {
        try await waitUntil("a put is taken") {
            if case .success = Result(catching: { try put(state) }) { true } else { false }
        }
        try await daemon.awaitState(state.rawValue)
    }

    /// A daemon that has taken flags of this state from here.
    func followed(
        _ state: StatusFlags = .running, interval: String = "1h", timeout: String = "6s",
        source: String = "", after: String = "", members: Int? = nil
    ) async throws -> Daemon {
        try put(state)
        let daemon = try Daemon(
            on: self, interval: interval, timeout: timeout, source: source, after: after,
            members: members)
        try await daemon.start(awaiting: state.rawValue)
        return daemon
    }
}
