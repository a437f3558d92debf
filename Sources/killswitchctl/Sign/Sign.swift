import ArgumentParser
import CivilTime
import Configuration
import Decision
import EventLoop
import Files
import Glibc
import JSON
import POSIX
import Signing
import SourceSettings

/// `killswitchctl sign FILE --key KEY`
struct Sign: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sign flags with ssh-keygen.",
        discussion: """
            First signer: give --flags-version, --expires and --audience; they are written into FILE and \
            the signature is appended. Next signers: give only --key; the content stays, a \
            signature is added. To change a signed file, give --flags-version next; its old signatures \
            are removed.

            example: killswitchctl sign flags.json --key ~/.ssh/ops --flags-version next --expires 7d \
            --audience prod
            """)

    @Option(
        help: """
            The private key, or the public key of one that an agent or a security key holds.
            """, completion: .file()) var key: String

    @Option(
        name: .customLong("flags-version"),
        help: ArgumentHelp(
            "The version of the document: a number, or 'next' for one more than it has.",
            valueName: "number"), transform: VersionArgument.read)
    var number: VersionArgument?

    @Option(
        help: ArgumentHelp(
            "How long hosts act on it, such as 7d, or a time.",
            valueName: "duration|time"), transform: Instant.readExpiry)
    var expires: Instant?

    @Option(help: ArgumentHelp("Which hosts it is for. Repeatable.", valueName: "name"))
    var audience: [String] = []

    @Option(
        help: ArgumentHelp(
            "When it was issued: no host takes an earlier time for the present. Without it now.",
            valueName: "time"), transform: Instant.read)
    var issued: Instant?

    @OptionGroup var checks: MemberChecks

    @OptionGroup var common: CommonOptions

    @Argument(help: "The flags: a JSON object, signed or not.", completion: .file())
    var file: String

    func validate() throws {
        guard !audience.contains("") else { throw ValidationError("--audience is empty") }
    }

    func run() throws {
        let bytes = try File.read(file, limit: FetchLimits.largestMaxBody)
        var document = DocumentFile(bytes, named: file)
        if number != nil || expires != nil || issued != nil || !audience.isEmpty {
            try document.set(version: number, expires: expires, issued: issued, audience: audience)
        }
        let order = try document.order()
        try checks.check(try document.flags())
        let before = try document.signatureCount
        document.signatures += try SSHKeygen.signature(over: document.content, by: key)
        let count = try document.signatureCount
        if count == before {
            printError("'\(key)' has signed '\(file)' already; nothing is added")
        } else {
            let mode = try File.attributes(of: file).mode
            try File.replace(file, with: document.bytes, mode: mode, surviving: .powerLoss)
        }
        printLine(
            "'\(file)' is version \(order.version) for "
                + "\(order.audiences.joined(separator: ", ")) until "
                + "\(Zone.utc.rfc3339(order.expires)), with "
                + "\(count) \(count == 1 ? "signature" : "signatures")")
        DrillNotice.show(in: common)
    }
}

/// The value of `--flags-version`.
enum VersionArgument {
    case next
    case number(Int64)

    static func read(_ word: String) throws -> VersionArgument {
        if word == "next" { return .next }
        guard let number = Int64(word), number >= 0 else {
            throw ValidationError("write a number, or 'next'")
        }
        return .number(number)
    }
}

extension Instant {
    /// The value of `--expires`: a duration from now on, in whole seconds, or a time.
    fileprivate static func readExpiry(_ word: String) throws -> Instant {
        if let duration = Duration(text: word) {
            return Instant(seconds: (EventLoop.wallClock + duration).seconds)
        }
        guard let instant = Instant(argument: word) else {
            throw ValidationError("write a duration such as 7d, or a time like \(Instant.example)")
        }
        return instant
    }
}

/// A document and its signatures, on the way to another signature.
struct DocumentFile {
    /// The document, as it is signed.
    private(set) var content: [UInt8]
    fileprivate var signatures: [UInt8]
    private let name: String

    /// Takes apart a file. Nothing is checked yet.
    init(_ bytes: [UInt8], named name: String) {
        content = SignedDocument.content(of: bytes)
        signatures = Array(bytes[content.count...])
        self.name = name
    }

    var bytes: [UInt8] { content + signatures }

    /// Fills in the members. Removes the old signatures, which were for another content.
    mutating func set(
        version: VersionArgument?, expires: Instant?, issued: Instant?, audience: [String]
    ) throws {
        var flags = try flags()
        switch version {
        case nil:
            guard signatures.isEmpty else {
                throw CommandFailure(
                    "'\(name)' is already signed; changed flags need a new version: add "
                        + "--flags-version next")
            }
        case .number(let number): flags["version"] = .number(Number(number))
        case .next:
            let known = flags["version"]?.number?.int64 ?? 0
            guard flags["version"] == nil || flags["version"]?.number?.int64 != nil,
                known < Int64.max
            else { throw CommandFailure("the 'version' of '\(name)' has no next one") }
            flags["version"] = .number(Number(known + 1))
        }
        if let expires { flags["expires"] = .string(Zone.utc.rfc3339(expires)) }
        if let first = audience.first {
            flags["audience"] = audience.count == 1 ? .string(first) : .strings(audience)
        }
        // That of a signed document is of its earlier version; that of another one is its author's.
        if issued != nil || !signatures.isEmpty || flags["issued"] == nil {
            let time = issued ?? Instant(seconds: EventLoop.wallClock.seconds)
            flags["issued"] = .string(Zone.utc.rfc3339(time))
        }
        if !signatures.isEmpty {
            printError("the signatures in '\(name)' are removed: they were for another document")
        }
        content = JSON.Value.object(flags).serializedBytes(.pretty) + [UInt8(ascii: "\n")]
        signatures = []
    }

    /// What the document says of itself. Throws if no host would understand it, or if it was edited after a signature.
    func order() throws -> SignedMetadata {
        _ = try signatureCount
        let flags = try flags()
        do throws(DocumentRefusal) {
            return try SignedMetadata(flags, digest: [])
        } catch {
            throw CommandFailure(
                "'\(name)' cannot be signed: \(error); give --flags-version, --expires and --audience"
            )
        }
    }

    fileprivate func flags() throws -> JSON.Object {
        do {
            return try FlagDocument.parse(content)
        } catch {
            throw CommandFailure("the flags in '\(name)' are invalid: \(error.detail)")
        }
    }

    /// How many keys have signed it, each counted once. Throws if a signature is not over the document.
    var signatureCount: Int {
        get throws {
            guard !signatures.isEmpty else { return 0 }
            do throws(SignatureRefusal) {
                let document = try SignedDocument(bytes)
                try document.checkOwnKeys()
                return document.keyCount
            } catch {
                let hint =
                    if case .changedBytes = error {
                        "; if the flags were edited, give --flags-version next"
                    } else {
                        ""
                    }
                throw CommandFailure("the signatures in '\(name)' cannot be used: \(error)\(hint)")
            }
        }
    }
}

/// ssh-keygen(1), which holds the keys, asks for passphrases, and talks to agents and security keys.
enum SSHKeygen {
    /// The armoured signature over a document, in a file: ssh-keygen would take the passphrase from standard input.
    static func signature(over document: [UInt8], by key: String) throws -> [UInt8] {
        let folder = try temporaryFolder()
        let (file, signature) = ("\(folder)/document", "\(folder)/document.sig")
        defer { remove([file, signature, folder]) }
        try File.replace(file, with: document, mode: 0o600)
        let end = try run([
            "ssh-keygen", "-q", "-Y", "sign", "-n", SignedDocument.namespace, "-f",
            try File.absolute(key), file,
        ])
        guard end == .exited(0) else {
            throw CommandFailure("ssh-keygen has not signed with the key '\(key)'")
        }
        return try File.read(signature, limit: 64 << 10)
    }

    /// Runs a command to its end. An interrupt from the keyboard ends the command alone, so that the files go.
    private static func run(_ command: [String]) throws -> Child.End {
        let loop = try EventLoop()
        let process = try ChildProcess(command, blocking: ChildProcess.blockedSignals)
        var end: Child.End?
        let signals = try Signals(loop, [SIGINT, SIGQUIT]) { _ in }
        let child = try Child(loop, process.identifier) { end = $0 }
        defer { withExtendedLifetime((signals, child)) {} }
        while true {
            if let end { return end }
            try loop.runOnce(.seconds(3600))
        }
    }

    private static func temporaryFolder() throws -> String {
        let base = environmentVariable("TMPDIR") ?? "/tmp"
        var path = Array("\(base)/killswitchctl.XXXXXX".utf8CString)
        guard unsafe mkdtemp(&path) != nil else {
            throw CommandFailure("make a folder in '\(base)': \(SystemError.text(of: errno))")
        }
        let bytes = path.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Removes what is there of these, in this order.
    private static func remove(_ paths: [String]) {
        for path in paths { _ = unsafe path.withCString { name in unsafe Glibc.remove(name) } }
    }
}
