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
    package func identifier(ofUser name: String) -> UInt32? {
        Self.identifier(of: name, in: users)
    }

    /// The ID of the group with this name; nil if the file has none.
    package func identifier(ofGroup name: String) -> UInt32? {
        Self.identifier(of: name, in: groups)
    }

    /// The user for records and the journal: `alice (uid 1000)`.
    package func author(_ user: UInt32) -> String {
        let name = Self.entries(of: users).first { $0.identifier == user }?.name
        return name.map { "\($0) (uid \(user))" } ?? "uid \(user)"
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
}

extension Accounts {
    /// The accounts of this host. Each call reads the files again. A file that cannot be read
    /// counts as empty.
    package static func ofThisHost() -> Accounts {
        Accounts(users: bytes(of: "/etc/passwd"), groups: bytes(of: "/etc/group"))
    }

    private static func bytes(of path: String) -> [UInt8] {
        do { return try File.read(path, limit: 16 << 20) } catch { return [] }
    }
}
