/// Who is at the other end of a connection, as the kernel knew it when that was made.
package struct Peer: Hashable, Sendable {
    /// The user ID.
    package let user: UInt32
    /// The group ID and those of the supplementary groups.
    package let groups: Set<UInt32>

    package init(user: UInt32, groups: Set<UInt32>) {
        self.user = user
        self.groups = groups
    }
}
