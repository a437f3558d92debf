/// The users and groups of this host by the text of `/etc/passwd` and `/etc/group` (passwd(5)).
///
/// Read here instead of being asked of libc, which may ask a directory server and wait for it: the
/// loop of the daemon waits for nobody. Who is known to such a server alone is named by the number.
package struct Accounts {
    private let users: [UInt8]
    private let groups: [UInt8]

    /// The bytes of the two files; empty where one cannot be read.
    package init(users: [UInt8], groups: [UInt8]) {
        self.users = users
        self.groups = groups
    }

    /// The name of a user; nil where the file has none of this ID.
    package func name(ofUser identifier: UInt32) -> String? {
        for fields in Self.lines(of: users) where fields.count > 2 {
            if UInt32(fields[2]) == identifier { return String(fields[0]) }
        }
        return nil
    }

    /// The ID of a user; nil where the file has none of this name.
    package func identifier(ofUser name: String) -> UInt32? {
        Self.identifier(of: name, in: users)
    }

    /// The ID of a group; nil where the file has none of this name.
    package func identifier(ofGroup name: String) -> UInt32? {
        Self.identifier(of: name, in: groups)
    }

    /// A user as records name one: `alice (uid 1000)`.
    package func author(_ user: UInt32) -> String {
        name(ofUser: user).map { "\($0) (uid \(user))" } ?? "uid \(user)"
    }

    /// Both files have the name first, and the ID third.
    private static func identifier(of name: String, in file: [UInt8]) -> UInt32? {
        for fields in lines(of: file) where fields.count > 2 {
            if fields[0].utf8.elementsEqual(name.utf8) { return UInt32(fields[2]) }
        }
        return nil
    }

    private static func lines(of file: [UInt8]) -> [[Substring]] {
        String(decoding: file, as: UTF8.self).split(separator: "\n").map {
            $0.split(separator: ":", omittingEmptySubsequences: false)
        }
    }
}
