/// Who may do what at the control socket. Reading is open to everybody.
package struct Permission: Hashable, Sendable {
    /// The group whose members may act.
    package static let group = "killswitchd"

    /// The user that the daemon runs as: who could stop it may order it about.
    private let ownUser: UInt32
    /// The group's ID; nil where this host has no such group.
    private let group: UInt32?

    package init(ownUser: UInt32, group: UInt32?) {
        self.ownUser = ownUser
        self.group = group
    }

    /// Whether the peer may change anything.
    package func mayAct(_ peer: Peer) -> Bool {
        if peer.user == 0 || peer.user == ownUser { return true }
        return group.map(peer.groups.contains) ?? false
    }
}
