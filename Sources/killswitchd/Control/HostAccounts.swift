import Control
import Files
import Glibc

/// The users and groups of this host, read anew each time: they come and go.
enum HostAccounts {
    static func read() -> Accounts {
        Accounts(users: bytes(of: "/etc/passwd"), groups: bytes(of: "/etc/group"))
    }

    /// Who may act at the control socket of this process.
    static func permission() -> Permission {
        Permission(
            ownUser: geteuid(), group: read().identifier(ofGroup: Permission.group))
    }

    /// Without the file nobody has a name, and no group counts.
    private static func bytes(of path: String) -> [UInt8] {
        do {
            return try File.read(path, limit: 16 << 20)
        } catch {
            return []
        }
    }
}
