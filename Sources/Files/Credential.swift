import CSystemd

/// The place of a secret or a certificate, which the configuration names and does not hold.
package enum Credential: Hashable, Sendable {
    /// A file in `$CREDENTIALS_DIRECTORY`, by `LoadCredential=` (systemd.exec(5)), readable by the service alone.
    case named(String)
    case file(String)

    /// Nil for a text that is neither a name nor an absolute path.
    package init?(_ text: String) {
        if text.utf8.contains(0) { return nil }
        if text.utf8.first == UInt8(ascii: "/") {
            self = .file(text)
        } else if !text.isEmpty, text != ".", text != "..", !text.utf8.contains(UInt8(ascii: "/")) {
            self = .named(text)
        } else {
            return nil
        }
    }

    /// As the configuration writes it.
    package var text: String {
        switch self {
        case .named(let name): name
        case .file(let path): path
        }
    }

    /// The path of the file, given the value of `$CREDENTIALS_DIRECTORY`.
    package func path(in directory: String?) throws(CredentialError) -> String {
        switch self {
        case .file(let path): return path
        case .named(let name):
            guard let directory, !directory.isEmpty else { throw .noDirectory(name) }
            return "\(directory)/\(name)"
        }
    }

    /// Keeps what this process reads to itself: from now on its memory is in no core dump, and no other
    /// process but root's can look into it (PR_SET_DUMPABLE of prctl(2)).
    package static func keepInMemory() {
        // A sandbox that refuses the call changes nothing else.
        _ = forbid_memory_dumps()
    }

    /// The content. Of a secret `user` may be given: a file by its path must belong to that user or root then, and
    /// no other user may read or write it.
    package func read(
        in directory: String?, secretOf user: UInt32? = nil
    ) throws(CredentialError) -> [UInt8] {
        let path = try path(in: directory)
        let (bytes, attributes): ([UInt8], FileAttributes)
        do {
            (bytes, attributes) = try File.readWithAttributes(path, limit: Self.sizeLimit)
        } catch {
            throw .unreadable(error)
        }
        guard let user, case .file = self else { return bytes }
        guard attributes.owner == user || attributes.owner == 0 else {
            throw .foreign(path, owner: attributes.owner)
        }
        guard attributes.mode & 0o077 == 0 else { throw .exposed(path, mode: attributes.mode) }
        return bytes
    }

    /// The limit of systemd for all credentials of a unit, in bytes.
    private static let sizeLimit = 1 << 20
}

/// Why a credential cannot be used.
package enum CredentialError: Error, Hashable, Sendable, CustomStringConvertible {
    case noDirectory(String)
    case unreadable(FileError)
    case foreign(String, owner: UInt32)
    case exposed(String, mode: UInt32)
    /// It is read, and its text is none that can be sent.
    case unusable(_ what: String, String, cause: String)

    package var description: String {
        switch self {
        case .noDirectory(let name):
            "read credential '\(name)': CREDENTIALS_DIRECTORY is not set; name it in "
                + "LoadCredential= of the unit"
        case .unreadable(let error): "\(error)"
        case .foreign(let path, let owner):
            "read credential '\(path)': it belongs to user \(owner), not to us or root"
        case .exposed(let path, let mode):
            "read credential '\(path)': its mode \(String(mode, radix: 8)) lets others at it; "
                + "take that away with 'chmod go='"
        case .unusable(let what, let text, let cause):
            "read the \(what) in credential '\(text)': \(cause)"
        }
    }
}
