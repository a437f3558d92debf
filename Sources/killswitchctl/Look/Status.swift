import ArgumentParser
import CivilTime
import Control
import Decision
import JSON
import Records

/// `killswitchctl status [SERVICE…]`
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the state of each service.",
        discussion: """
            GATE is what the gate is: open, closing 1/3, closed, opening, or stuck if it cannot be \
            moved; the problem is below the table. AGE is how long ago the source of the flags last confirmed them, NEXT when they are \
            fetched again. UNITS says how many attached units are as they should be, and how long \
            the slowest took to stop or start. Without a running daemon it shows the files alone, \
            and says so.

            example: killswitchctl status
            """)

    @OptionGroup var common: CommonOptions

    @Flag(
        help: """
            Print JSON: state.json of each service, with 'age' and 'next_poll' in seconds, 'current', \
            'gate_actual' and the attached 'units'; and the 'sources', with their problems.
            """) var json = false

    @Argument(help: "The services; by default all of them.", completion: .services)
    var services: [ServiceName] = []

    func run() throws {
        let published = try PublishedFiles(common)
        let names = services.isEmpty ? try published.services() : services
        let (sources, process, absence) = askDaemon(of: published)
        var rows: [StatusRow] = []
        var unreadable: [UnreadableState] = []
        for name in names {
            do {
                rows.append(try StatusRow(name, in: published, sources))
            } catch let error as UnreadableState {
                unreadable.append(error)
            }
        }
        let refusal = try RuntimeDirectory.refusal(in: published.directory)
        if json {
            printJSON(rows, sources, process, refusal: refusal, absence: absence)
        } else {
            printTable(rows, sources, refusal: refusal)
            if names.isEmpty {
                printError("no service is known yet in '\(published.directory)'")
            }
        }
        for problem in unreadable { printError("\(problem)") }
        if let process, process.isNearLimit { printError("\(process)") }
        if let absence {
            printError("\(absence)\nThe states are read from the files.")
        }
        // The exit status shows a script that some services are missing from the output.
        if !unreadable.isEmpty { throw CommandFailure(.no) }
    }

    /// The sources as the running daemon sees them; or why it does not answer, which is no failure.
    private func askDaemon(
        of published: PublishedFiles
    ) -> ([SourceReply], ProcessReply?, absence: String?) {
        do {
            // Soon enough to show the files of a daemon that is frozen.
            let reply = try published.daemon(timeout: .seconds(2)).call("Sources")
            let process = reply["process"]?.object.flatMap(ProcessReply.init)
            return (reply.objects("sources").map { SourceReply(object: $0) }, process, nil)
        } catch {
            return ([], nil, CommandFailure(error).message)
        }
    }

    private func printJSON(
        _ rows: [StatusRow], _ sources: [SourceReply], _ process: ProcessReply?,
        refusal: String?, absence: String?
    ) {
        let whole: JSON.Value = .object([
            "services": .array(rows.map(\.json)),
            "sources": absence == nil
                ? .array(sources.followed(by: rows).map { .object($0.object) }) : .null,
            "configuration": .object(["refused": .optional(refusal)]),
            "daemon": .object([
                "problem": .optional(absence),
                "descriptors": .optional(process?.used),
                "descriptor_limit": .optional(process?.limit),
            ]),
        ])
        say(whole)
    }

    private func printTable(_ rows: [StatusRow], _ sources: [SourceReply], refusal: String?) {
        if let refusal {
            printError(
                "the configuration is refused, the last accepted one is in force:\n\(refusal)")
        }
        guard !rows.isEmpty else { return }
        StatusTable(rows: rows).show()
        for override in rows.compactMap(\.override) { say(override) }
        for source in sources.followed(by: rows) {
            for problem in [source.problem].compactMap(\.self) + source.warnings {
                say("source '\(source.name)': \(problem)")
            }
        }
        for problem in rows.flatMap(\.gateProblems) { say(problem) }
    }
}

extension [SourceReply] {
    /// The sources that a service in the table follows.
    fileprivate func followed(by rows: [StatusRow]) -> [SourceReply] {
        let shown = Set(rows.map(\.service.text))
        return filter { !shown.isDisjoint(with: $0.services) }
    }
}

/// The daemon's process in its reply.
struct ProcessReply: CustomStringConvertible {
    /// How many descriptors it has open.
    let used: Int64
    /// How many it may have open.
    let limit: Int64

    /// Nil if the daemon cannot tell.
    init?(_ object: JSON.Object) {
        guard let used = object["descriptors"]?.number?.int64,
            let limit = object["descriptor_limit"]?.number?.int64
        else { return nil }
        self.used = used
        self.limit = limit
    }

    /// Whether people are told: it may soon have none for a source.
    var isNearLimit: Bool { used > limit / 4 * 3 }

    var description: String {
        "the daemon uses \(used) of \(limit) descriptors; raise LimitNOFILE= in its unit"
    }
}

/// A source in a reply of the daemon.
struct SourceReply {
    /// The whole object.
    let object: JSON.Object

    /// The name.
    var name: String { object.text("name") }
    /// How long ago it confirmed its flags; nil if it never did.
    var age: Duration? { seconds("age") }
    /// The time until the next fetch; nil while one is in flight.
    var nextPoll: Duration? { seconds("next_poll") }
    /// Why the last fetch failed; nil if it did not.
    var problem: String? { object["problem"]?.string }
    /// The warnings about it and its flags; a daemon before an upgrade tells none.
    var warnings: [String] { object.strings("warnings") }
    /// The services that follow it.
    var services: [String] { object.strings("services") }

    private func seconds(_ key: String) -> Duration? {
        object[key]?.number?.int64.map { .seconds($0) }
    }
}
