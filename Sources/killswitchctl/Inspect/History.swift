import ArgumentParser
import CivilTime
import ControlSocket
import Decision
import Files
import Glibc
import JSON
import Storage
import Systemd

/// `killswitchctl history [SERVICE]`
struct History: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show past decisions and orders, from the journal.",
        discussion: """
            The oldest comes first. Needs the right to read the system's journal: be root, or in \
            the group systemd-journal.

            example: killswitchctl history shop --since 24h
            """)

    @OptionGroup var common: CommonOptions

    @Option(
        help: ArgumentHelp(
            "Only entries since this time: by RFC 3339, or how long ago, such as 24h.",
            valueName: "time"),
        transform: Instant.readPast)
    var since: Instant?

    @Option(
        help: "Read the journal files in this directory instead of the system's.",
        completion: .directory) var directory: String?

    @Flag(help: "Print a JSON object for each entry, one per line.") var json = false

    @Argument(
        help: "The service; by default every service.", completion: .services,
        transform: ServiceName.read)
    var service: ServiceName?

    func run() throws {
        if directory == nil { try Self.requireSystemJournal() }
        let zone = ZoneFiles.local
        let isEmpty = try each(since: since) { event in
            if json {
                printJSON(event.json(in: zone, of: service), .compact)
            } else {
                printLine(event.line(in: zone))
            }
            return true
        }
        guard isEmpty else { return }
        if let service { try checkThatItIsKnown(service) }
        printError("the journal has no such entries")
    }

    /// Throws if the caller may not read the system's journal: libsystemd skips such files without saying so.
    static func requireSystemJournal() throws {
        // The files of the system's entries (systemd-journald.service(8)).
        var files: [String] = []
        do {
            let machine = try File.read("/etc/machine-id", limit: 64).filter { $0 > 0x20 }
            let name = String(decoding: machine, as: UTF8.self)
            files = try ["/var/log/journal", "/run/log/journal"]
                .map { "\($0)/\(name)/system.journal" }
                .filter(File.exists)
            if files.isEmpty { throw CommandFailure("there is no journal on this host") }
        } catch let error as FileError where error.isPermissionDenied {}
        guard files.contains(where: { file in unsafe access(file, R_OK) == 0 }) else {
            throw CommandFailure(
                .notPermitted,
                "not permitted to read the system's journal; type 'sudo' before the command, or as "
                    + "root 'adduser USER systemd-journal'")
        }
    }

    /// Throws for an unknown service. One that is no longer configured may have older entries.
    private func checkThatItIsKnown(_ service: ServiceName) throws {
        let hasNever = try since == nil || each(since: nil) { _ in false }
        guard hasNever else { return }
        let published = try PublishedFiles(common)
        let known = try published.services()
        if !known.contains(service) { throw published.unknown(service, among: known) }
    }

    /// Calls `body` with each event, the oldest first, until it returns false. Returns whether there was none at all.
    private func each(since: Instant?, _ body: (JournalRecord) -> Bool) throws -> Bool {
        let trusted = try Self.authors(with: PublishedFiles(common))
        let journal = try JournalReader(directory: directory)
        let kinds: [LogMessage.Kind] = [
            .decided, .closingHeld, .closingConfirmed, .stepConfirmed, .overridden, .released,
            .overrideExpired,
            .forgotten,
        ]
        try journal.match("MESSAGE_ID", kinds.map(\.row.messageID))
        if let service { try journal.match("KILLSWITCH_SERVICE", [service.text]) }
        try journal.seek(since?.microseconds)
        var isEmpty = true
        while let record = try journal.next() {
            guard let user = record["_UID"].flatMap({ UInt32($0) }), trusted.contains(user)
            else { continue }
            isEmpty = false
            if !body(record) { break }
        }
        return isEmpty
    }

    /// The users whose entries count: root, the daemon's user, the owner of its files, and the caller.
    /// Everybody may write to the journal, with any fields, but journald adds the true user.
    static func authors(with published: PublishedFiles) throws -> Set<UInt32> {
        var users: Set<UInt32> = [0, geteuid()]
        if let user = Accounts.ofThisHost().identifier(ofUser: "killswitchd") { users.insert(user) }
        // Without the directory, no daemon has run since the boot.
        let owner = try File.ifThere(File.attributes(of: published.directory).owner)
        return users.union([owner].compactMap(\.self))
    }
}

extension JournalRecord {
    fileprivate func line(in zone: Zone) -> String {
        "\(zone.rfc3339(Instant(microseconds: time))) \(self["MESSAGE"] ?? "")"
    }

    /// The object for programs. Of an event of several services `service` is null, unless the command names one.
    fileprivate func json(in zone: Zone, of service: ServiceName?) -> JSON.Value {
        var object: JSON.Object = [
            "time": .string(zone.rfc3339(Instant(microseconds: time))),
            "message": .string(self["MESSAGE"] ?? ""),
            "message_id": .string(self["MESSAGE_ID"] ?? ""),
        ]
        let services = values["KILLSWITCH_SERVICE"] ?? []
        object["service"] = .optional(service?.text ?? (services.count == 1 ? services.first : nil))
        object["services"] = .strings(services)
        // Several people may have signed.
        for name in Self.members {
            let texts = values["KILLSWITCH_\(name.uppercased())"] ?? []
            object[name] = .optional(texts.isEmpty ? nil : texts.joined(separator: ","))
        }
        object["days_left"] = .optional(self["KILLSWITCH_DAYS_LEFT"].flatMap { Int64($0) })
        return .object(object)
    }

    private static let members =
        PublishedFacts.fields(on: .journal, last: ["author"]).map(\.name)
        .filter { $0 != "days_left" } + ["cause", "until"]
}
