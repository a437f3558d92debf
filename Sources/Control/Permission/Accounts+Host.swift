import Files
import Glibc

extension Accounts {
    /// Those of this host, read anew each time: they come and go. Of a file that cannot be read nobody
    /// has a name, and no group counts.
    package static func ofThisHost() -> Accounts {
        Accounts(users: bytes(of: "/etc/passwd"), groups: bytes(of: "/etc/group"))
    }

    private static func bytes(of path: String) -> [UInt8] {
        do {
            return try File.read(path, limit: 16 << 20)
        } catch {
            return []
        }
    }
}

extension Permission {
    /// Who may act at the control socket of this process.
    package static func ofThisProcess() -> Permission {
        Permission(ownUser: geteuid(), group: Accounts.ofThisHost().identifier(ofGroup: group))
    }
}
