import Support

extension Daemon {
    /// A daemon on the keys `/flags/…` of a cluster. By default it polls once an hour: it sees earlier
    /// changes by its watch. `source` and `service` are additional lines of those tables.
    convenience init(
        on cluster: EtcdCluster, interval: String = "1h", timeout: String = "6s",
        source: String = "", service: String = "", after: String = "", members: Int? = nil
    ) throws {
        try self.init(
            """
            [source.app]
            type = "etcd"
            endpoints = \(cluster.endpoints(members ?? cluster.members.count))
            prefix = "/flags/"
            interval = "\(interval)"
            timeout = "\(timeout)"
            \(source)

            [service.shop]
            source = "app"
            format = "status"
            key = "shop"
            min_closed = "0s"
            \(service)
            \(after)
            """, flags: nil)
    }
}

extension EtcdCluster {
    /// Puts the flags of a service that is in this state.
    func put(_ state: Flags) throws {
        try control("put", "/flags/shop", state.text)
    }

    /// The flags of a service, in the format `status`.
    enum Flags: String {
        case running
        case maintenance
        case updateRequired = "update-required"

        var text: String {
            let (isInactive, mustUpdate) = (self == .maintenance, self == .updateRequired)
            return #"{"apiInactive": \#(isInactive), "forceUpdate": \#(mustUpdate)}"#
        }
    }
}
