import ControlSocket
import Files
import Glibc
import POSIX

/// Tries to read files as the daemon would, for `--check`: as its user, and by what its unit hides from it.
struct FileReader {
    /// The user and the group of the daemon; nil if they are those of this process.
    private let user: (identifier: UInt32, group: UInt32)?
    /// Whether the daemon runs in the sandbox of its unit.
    private let isInUnit: Bool
    /// The folder of the credentials; nil if it is not known.
    let credentials: String?

    /// The daemon of systemd if root checks the configuration of the system; else one that this user would start.
    static func ofTheDaemon(isOfTheSystem: Bool) -> FileReader {
        let accounts = Accounts.ofThisHost()
        let own = environmentVariable("CREDENTIALS_DIRECTORY")
        guard isOfTheSystem, geteuid() == 0, own == nil,
            let user = accounts.identifier(ofUser: Permission.groupName),
            let group = accounts.identifier(ofGroup: Permission.groupName)
        else { return FileReader(user: nil, isInUnit: false, credentials: own) }
        return FileReader(
            user: (user, group), isInUnit: true,
            credentials: "/run/credentials/killswitchd.service")
    }

    /// Makes this process one of the daemon's user, for good.
    func becomeDaemon() throws(SystemError) {
        guard let user else { return }
        var groups = [user.group]
        guard unsafe setgroups(groups.count, &groups) == 0, setgid(user.group) == 0,
            setuid(user.identifier) == 0
        else { throw SystemError("become the user '\(Permission.groupName)'", code: errno) }
    }

    /// Why the daemon could not read a file; nil if it could.
    func problem(of file: NeededFile) -> String? {
        let credential: Credential
        switch file {
        case .plain(let path):
            return hiding(of: path) ?? tried { _ = try File.read(path, limit: 64 << 20) }
        case .certificate(let one), .secret(let one): credential = one
        }
        if isInUnit {
            if let problem = missing(credential) { return problem }
            // systemd hands it to the daemon, readable.
            if case .named = credential { return nil }
        }
        return tried {
            let isSecret = if case .secret = file { true } else { false }
            let owner = isSecret ? user?.identifier ?? geteuid() : nil
            _ = try credential.read(in: credentials, secretOf: owner)
        }
    }

    /// Why the daemon has no such credential; nil if it has.
    private func missing(_ credential: Credential) -> String? {
        switch credential {
        case .file(let path): return hiding(of: path)
        case .named(let name):
            let given = UnitCredentials.ofTheDaemon
            if given.areImported || given.set.contains(name) { return nil }
            guard let path = given.loaded[name] else {
                return
                    "read credential '\(name)': no LoadCredential= of killswitchd.service names it"
            }
            // systemd reads it, as root. A name without a path is of the host.
            guard path.hasPrefix("/") else { return nil }
            let cause = problem(of: { _ = try File.attributes(of: path) })
            return cause.map { "read credential '\(name)' of LoadCredential=: \($0)" }
        }
    }

    /// Why the sandbox of the unit hides a path; nil if it does not.
    private func hiding(of path: String) -> String? {
        guard isInUnit else { return nil }
        for (folder, setting) in Self.hidden where path.hasPrefix("\(folder)/") {
            return
                "read '\(path)': the unit hides \(folder) from the daemon (\(setting)); put the file "
                + "in another folder, such as /etc/killswitchd"
        }
        return nil
    }

    /// The folders that the shipped unit hides.
    private static let hidden = [
        ("/home", "ProtectHome="), ("/root", "ProtectHome="), ("/run/user", "ProtectHome="),
        ("/tmp", "PrivateTmp="), ("/var/tmp", "PrivateTmp="), ("/dev", "PrivateDevices="),
    ]

    /// Performs `read` as the daemon's user; the error, with the user where the right is missing.
    private func tried(_ read: () throws -> Void) -> String? {
        let cause = problem(of: { try asDaemon(read) })
        return cause.map { user == nil ? $0 : "\($0) (as the user \(Permission.groupName))" }
    }

    private func problem(of read: () throws -> Void) -> String? {
        do {
            try read()
            return nil
        } catch {
            return "\(error)"
        }
    }

    private func asDaemon(_ read: () throws -> Void) throws {
        guard let user else { return try read() }
        var groups = [gid_t](repeating: 0, count: 65_536)
        let count = unsafe getgroups(Int32(groups.count), &groups)
        var own = [user.group]
        guard count >= 0, unsafe setgroups(own.count, &own) == 0, setegid(user.group) == 0,
            seteuid(user.identifier) == 0
        else { return try read() }
        defer {
            _ = seteuid(0)
            _ = setegid(0)
            _ = unsafe setgroups(Int(count), &groups)
        }
        try read()
    }
}

/// The credentials that the unit of the daemon names, by its files: before the first start systemd has loaded none.
private struct UnitCredentials {
    /// The places of the credentials of `LoadCredential=`, and the names of those that the unit itself holds.
    private(set) var loaded: [String: String] = [:]
    private(set) var set: Set<String> = []
    /// Whether the unit takes credentials by a pattern, so that any name may be there.
    private(set) var areImported = false

    /// What the unit of this host names.
    static var ofTheDaemon: UnitCredentials {
        var credentials = UnitCredentials()
        for folder in ["/usr/lib", "/run", "/etc"] {
            let unit = "\(folder)/systemd/system/killswitchd.service"
            let dropIns = readable { try Directory.list("\(unit).d") } ?? []
            credentials.read(unit)
            for file in dropIns where file.hasSuffix(".conf") {
                credentials.read("\(unit).d/\(file)")
            }
        }
        return credentials
    }

    private mutating func read(_ path: String) {
        let bytes = readable { try File.read(path, limit: 1 << 20) } ?? []
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let setting = line.split(separator: "=", maxSplits: 1)
            guard setting.count == 2 else { continue }
            let parts = setting[1].split(separator: ":", maxSplits: 1)
            let name = String(parts.first ?? "")
            switch setting[0] {
            case "LoadCredential", "LoadCredentialEncrypted":
                loaded[name] = parts.count == 2 ? String(parts[1]) : name
            case "SetCredential", "SetCredentialEncrypted": set.insert(name)
            case "ImportCredential": areImported = true
            default: break
            }
        }
    }
}
