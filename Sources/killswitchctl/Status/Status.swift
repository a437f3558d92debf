import ArgumentParser
import Decision
import JSON
import Records

/// `killswitchctl status [SERVICE…]`
struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what was decided for each service.",
        discussion: """
            AGE is how long ago the source of the flags last confirmed them, NEXT when they are \
            asked for again. UNITS says how many attached units are as they should be, and how long \
            the slowest took to stop or start. Without a running daemon it shows what the files know, \
            and says so.

            example: killswitchctl status
            """)

    @OptionGroup var common: CommonOptions

    @Flag(
        help: """
            Print JSON: state.json of each service, with 'age' and 'next_poll' in seconds, 'current' \
            and the attached 'units'; and the 'sources', with what is wrong.
            """)
    var json = false

    @Argument(
        help: "The services; all of them when none is named.", completion: .services)
    var services: [ServiceName] = []

    func run() throws {
        let published = try Published(common)
        let names = services.isEmpty ? try published.services() : services
        let (sources, absence) = askDaemon(of: published)
        var rows: [StatusRow] = []
        var unreadable: [UnreadableState] = []
        for name in names {
            do {
                rows.append(try StatusRow(name, in: published, sources))
            } catch let error as UnreadableState {
                unreadable.append(error)
            }
        }
        let refusal = try published.refusal()
        if json {
            printJSON(rows, sources, refusal: refusal, absence: absence)
        } else {
            printTable(rows, sources, refusal: refusal)
            if names.isEmpty {
                printError("killswitchctl: no service is known yet in '\(published.directory)'")
            }
        }
        for problem in unreadable { printError("killswitchctl: \(problem)") }
        if let absence {
            printError("killswitchctl: \(absence)\nThis is what the files know.")
        }
        // What is missing was said; whoever reads the rest alone has to see that something is.
        if !unreadable.isEmpty { throw CommandFailure(.no) }
    }

    /// The sources by the running daemon; or why it does not answer, which hides nothing else.
    private func askDaemon(of published: Published) -> ([SourceAnswer], absence: String?) {
        do {
            return (try SourceAnswer.all(in: published.directory), nil)
        } catch {
            return ([], error.message ?? "the daemon does not answer")
        }
    }

    private func printJSON(
        _ rows: [StatusRow], _ sources: [SourceAnswer], refusal: String?, absence: String?
    ) {
        let whole: JSON.Value = .object([
            "services": .array(rows.map(\.json)),
            "sources": absence == nil
                ? .array(sources.followed(by: rows).map { .object($0.object) }) : .null,
            "configuration": .object(["refused": refusal.map { .string($0) } ?? .null]),
            "daemon": .object(["problem": absence.map { .string($0) } ?? .null]),
        ])
        print(whole.serialized(.pretty))
    }

    private func printTable(
        _ rows: [StatusRow], _ sources: [SourceAnswer], refusal: String?
    ) {
        if let refusal {
            printError(
                "killswitchctl: the configuration is refused, the one accepted last is in force:\n"
                    + refusal)
        }
        guard !rows.isEmpty else { return }
        print(StatusTable(rows: rows, isColored: Terminal.wantsColor, width: Terminal.width).text)
        for order in rows.compactMap(\.order) { print(order) }
        for source in sources.followed(by: rows) {
            guard let problem = source.problem else { continue }
            print("source '\(source.name)': \(problem.printable)")
        }
        for trouble in rows.flatMap(\.troubles) { print(trouble) }
    }
}

extension [SourceAnswer] {
    /// Those that one of the services in the table follows.
    fileprivate func followed(by rows: [StatusRow]) -> [SourceAnswer] {
        let shown = Set(rows.map(\.service.text))
        return filter { !shown.isDisjoint(with: $0.services) }
    }
}
