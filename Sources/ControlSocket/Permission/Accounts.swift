import Files

/// The users and groups of this host, by the text of `/etc/passwd` and `/etc/group` (passwd(5)).
///
/// libc is not asked: it may wait for a directory server, and nothing may block the daemon's loop. A
/// user who is known to such a server alone is shown by number.
package struct Accounts {
    private let users: [UInt8]
    private let groups: [UInt8]

    /// The bytes of the two files; empty for a file that cannot be read.
    package init(users: [UInt8], groups: [UInt8]) {
        self.users = users
        self.groups = groups
    }

    /// The ID of the user with this name; nil if the file has none.
    package func identifier(ofUser name: String) -> UInt32? { Self.identifier(of: name, in: users) }

    /// The ID of the group with this name; nil if the file has none.
    package func identifier(ofGroup name: String) -> UInt32? {
        Self.identifier(of: name, in: groups)
    }

    /// The person at a peer, for records and the journal, with the origin of each name:
    ///
    /// - `alice (uid 1000)`: the process runs as alice.
    /// - `alice (login uid 1000) as root (uid 0)`: alice logged in, and became root.
    /// - `alice (login uid 1000, SUDO_USER) as root (uid 0)`: sudo says so too.
    /// - `alice (SUDO_USER) as root (uid 0)`: nothing but the environment of the command says so.
    ///
    /// `sudoUser` is what the command has found in its environment. root may put anything there, so that it is a
    /// claim. The claim of another user than root does not come first: they could name somebody else.
    package func author(_ peer: Peer, sudoUser: String? = nil) -> String {
        let user = words(peer.user, "uid")
        guard let login = peer.login, login != peer.user else {
            guard let sudoUser, identifier(ofUser: sudoUser) != peer.user else { return user }
            return peer.user == 0
                ? "\(sudoUser) (SUDO_USER) as \(user)" : "\(user), SUDO_USER \(sudoUser)"
        }
        let isConfirmed = sudoUser.map { identifier(ofUser: $0) == login } ?? false
        let person = words(login, "login uid", isConfirmed ? ", SUDO_USER" : "")
        let claim = isConfirmed ? nil : sudoUser.map { ", SUDO_USER \($0)" }
        return "\(person) as \(user)\(claim ?? "")"
    }

    /// `alice (uid 1000)`; without the name if the file does not have it.
    private func words(_ user: UInt32, _ kind: String, _ more: String = "") -> String {
        let name = Self.entries(of: users).first { $0.identifier == user }?.name
        guard let name else { return "\(kind) \(user)\(more)" }
        return "\(name) (\(kind) \(user)\(more))"
    }

    private static func identifier(of name: String, in file: [UInt8]) -> UInt32? {
        entries(of: file).first { $0.name.utf8.elementsEqual(name.utf8) }?.identifier
    }

    /// In both files the name is the first field, and the ID the third.
    private static func entries(of file: [UInt8]) -> [(name: Substring, identifier: UInt32?)] {
        String(decoding: file, as: UTF8.self).split(separator: "\n").compactMap { line in
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            return fields.count > 2 ? (fields[0], UInt32(fields[2])) : nil
        }
    }

    /// The accounts of this host; the files are read at each call. One that cannot be read counts as empty.
    package static func ofThisHost() -> Accounts {
        Accounts(users: bytes(of: "/etc/passwd"), groups: bytes(of: "/etc/group"))
    }

    private static func bytes(of path: String) -> [UInt8] {
        readable { try File.read(path, limit: 16 << 20) } ?? []
    }
}
