import Files
import Glibc
import POSIX
import Signing

/// ssh-keygen(1), which holds the keys, asks for passphrases, and talks to agents and security keys.
enum SSHKeygen {
    /// The armoured signature over a document by a key.
    ///
    /// ssh-keygen reads the document from a file: it would take the passphrase from standard input.
    static func signature(over document: [UInt8], by key: String) throws -> [UInt8] {
        let folder = try temporaryFolder()
        let (file, signature) = ("\(folder)/document", "\(folder)/document.sig")
        defer { remove([file, signature, folder]) }
        try File.replace(file, with: document, mode: 0o600)
        let end = try run([
            "ssh-keygen", "-q", "-Y", "sign", "-n", SignedDocument.namespace, "-f",
            try File.absolute(key), file,
        ])
        guard end == 0 else {
            throw CommandFailure(.no, "ssh-keygen has not signed with the key '\(key)'")
        }
        return try File.read(signature, limit: 64 << 10)
    }

    /// Runs a command to its end, with this terminal; returns its status as waitpid(2) gives it. An interrupt from the
    /// keyboard ends the command alone, so that the files go.
    private static func run(_ command: [String]) throws -> Int32 {
        let signals = [SIGINT, SIGQUIT]
        let before = ChildProcess.blockedSignals
        let child = try ChildProcess(command, blocking: before)
        var handlers: [sighandler_t?] = []
        for number in signals { handlers.append(signal(number, SIG_IGN)) }
        defer {
            for (number, handler) in zip(signals, handlers) { _ = signal(number, handler) }
        }
        var status: Int32 = 0
        while unsafe waitpid(child.identifier, &status, 0) < 0 {
            guard errno == EINTR else {
                throw CommandFailure(.no, "wait for ssh-keygen: \(SystemError.text(of: errno))")
            }
        }
        return status
    }

    private static func temporaryFolder() throws -> String {
        let base = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var path = Array("\(base)/killswitchctl.XXXXXX".utf8CString)
        guard unsafe mkdtemp(&path) != nil else {
            throw CommandFailure(
                .no, "make a folder in '\(base)': \(SystemError.text(of: errno))")
        }
        let bytes = path.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Removes what is there of these, in this order.
    private static func remove(_ paths: [String]) {
        for path in paths { _ = unsafe path.withCString { name in unsafe Glibc.remove(name) } }
    }
}
