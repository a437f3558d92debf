import ArgumentParser
import CivilTime
import Control
import Decision
import EventLoop
import Files
import Glibc
import JSON
import Journal
import Records

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

    @Option(help: "Only what came since: a time by RFC 3339, or how long ago, such as 24h or 7d.")
    var since: Since?

    @Option(
        help: "Read the journal files in this directory instead of the system's.",
        completion: .directory)
    var directory: String?

    @Flag(help: "Print an object of JSON for each, one a line.")
    var json = false

    @Argument(help: "The service; all of them when none is named.", completion: .services)
    var service: ServiceName?

    func run() throws {
        if directory == nil { try JournalAccess.check() }
        let zone = try ZoneFiles.system()
        let isEmpty = try each(since: since) { event in
            print(
                json
                    ? event.json(in: zone, of: service).serialized(.compact) : event.line(in: zone))
            return true
        }
        guard isEmpty else { return }
        if let service { try checkThatItIsKnown(service) }
        printError("killswitchctl: the journal has nothing of that")
    }

    /// A service that is gone is known by what it once did.
    private func checkThatItIsKnown(_ service: ServiceName) throws {
        let hasNever = try since == nil || each(since: nil) { _ in false }
        if hasNever { try Published(common).check(service) }
    }

    /// Takes each event, the oldest first, until `take` has enough; says whether there was none.
    private func each(since: Since?, _ take: (PastEvent) -> Bool) throws -> Bool {
        let trusted = try authors()
        do {
            let journal = try JournalReader(directory: directory)
            try journal.match("MESSAGE_ID", PastEvent.kinds.map(\.rawValue))
            if let service { try journal.match("KILLSWITCH_SERVICE", [service.text]) }
            try journal.seek(since?.instant(before: EventLoop.wallClock).microseconds)
            var isEmpty = true
            while let record = try journal.next() {
                guard let event = PastEvent(record), trusted.contains(event.user) else { continue }
                isEmpty = false
                if !take(event) { break }
            }
            return isEmpty
        } catch {
            throw CommandFailure(.no, "\(error)")
        }
    }

    /// The users whose word counts: root, the one that the daemon writes its files as, and ourselves.
    /// Everybody may write to the journal, under any name but another user's.
    private func authors() throws(CommandFailure) -> Set<UInt32> {
        var users: Set<UInt32> = [0, geteuid()]
        if let user = Accounts.ofThisHost().identifier(ofUser: "killswitchd") { users.insert(user) }
        let directory = try Published(common).directory
        do {
            users.insert(try File.attributes(of: directory).owner)
        } catch  where error.isNotFound {
            // No daemon has run since the boot.
            return users
        } catch {
            throw CommandFailure(.no, "\(error)")
        }
        return users
    }
}
