import Glibc

extension Peer {
    /// Who made the connection, by `SO_PEERCRED` and `SO_PEERGROUPS` of unix(7); nil where the kernel
    /// does not tell. A supplementary group shows in the second alone.
    init?(of descriptor: Int32) {
        // A `struct ucred`, which Swift does not see: the IDs of process, user and group.
        var credentials: [UInt32] = [0, 0, 0]
        var length = socklen_t(credentials.count * MemoryLayout<UInt32>.size)
        guard
            unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0,
            let supplementary = Self.groups(of: descriptor)
        else { return nil }
        self.init(user: credentials[1], groups: Set(supplementary + [credentials[2]]))
    }

    /// The kernel says how long the list is when there is no room for it.
    private static func groups(of descriptor: Int32) -> [UInt32]? {
        var length: socklen_t = 0
        if unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERGROUPS, nil, &length) == 0 { return [] }
        guard errno == ERANGE else { return nil }
        var groups = [UInt32](repeating: 0, count: Int(length) / MemoryLayout<UInt32>.size)
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERGROUPS, &groups, &length) == 0
        else { return nil }
        return groups
    }
}
