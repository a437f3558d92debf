import Glibc

/// Who may connect to the control socket.
package struct Permission: Hashable, Sendable {
    /// The group whose members may.
    package static let groupName = "killswitchd"

    /// The user that the daemon runs as, who could stop it anyway.
    private let ownUser: UInt32
    /// The group's ID; nil if this host has no such group.
    let group: UInt32?

    package init(ownUser: UInt32, group: UInt32?) {
        self.ownUser = ownUser
        self.group = group
    }

    /// Whether the peer may give orders: root, the daemon's own user, members of the group.
    package func mayAct(_ peer: Peer) -> Bool {
        if peer.user == 0 || peer.user == ownUser { return true }
        return group.map(peer.groups.contains) ?? false
    }

    /// Who may connect to the control socket of this process; `/etc/group` is read at each call.
    package static func ofThisProcess() -> Permission {
        Permission(
            ownUser: geteuid(), group: Accounts.ofThisHost().identifier(ofGroup: groupName))
    }
}

/// The process at the other end of a connection, by the IDs that it had when it connected.
package struct Peer: Hashable, Sendable {
    package let user: UInt32
    /// The group ID, and the IDs of the supplementary groups.
    package let groups: Set<UInt32>
    package let process: Int32
    /// The user who logged in, if the peer has shown it: `LoginUser`.
    package var login: UInt32?

    package init(user: UInt32, groups: Set<UInt32>, process: Int32 = 0, login: UInt32? = nil) {
        self.user = user
        self.groups = groups
        self.process = process
        self.login = login
    }

    /// The process that connected, by `SO_PEERCRED` and, for its groups, `SO_PEERGROUPS` of unix(7); nil if unknown.
    init?(of descriptor: Int32) {
        // A `struct ucred`, which Swift does not import: the IDs of process, user and group. There is room for more, so
        // that the kernel tells whether it has another size.
        var credentials: [UInt32] = [0, 0, 0, 0]
        var length = socklen_t(credentials.count * MemoryLayout<UInt32>.size)
        guard
            unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0,
            length == 3 * MemoryLayout<UInt32>.size,
            let supplementary = Self.groups(of: descriptor)
        else { return nil }
        self.init(
            user: credentials[1], groups: Set(supplementary + [credentials[2]]),
            process: Int32(bitPattern: credentials[0]))
    }

    /// The first call fails with ERANGE and sets the length of the list.
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
