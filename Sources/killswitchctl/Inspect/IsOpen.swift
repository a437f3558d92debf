import ArgumentParser
import Decision
import Files
import JSON
import Storage

/// `killswitchctl is-open SERVICE…`
struct IsOpen: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say by the exit status whether services may run.",
        discussion: """
            Exits with 0 when every gate is open, 1 when one is closed, 3 when a service is undecided, \
            its state file is out of date or no daemon has run since the boot, 4 when there is no such \
            service; of several the number that comes first in 4, 1, 3. If the state file cannot be read, \
            a marker that closes counts; else the exit status is 3. If the command itself fails, such \
            as on a full disk, the exit status is 70 unless the gate is closed.

            example: killswitchctl is-open --quiet shop || exit 0
            """)

    @OptionGroup var common: CommonOptions

    @Flag(name: .shortAndLong, help: "Print nothing.") var quiet = false

    @Flag(help: "Print the answer as JSON, an object in a line for each service.") var json = false

    @Argument(
        help: ArgumentHelp("The services.", valueName: "service"), completion: .services,
        transform: ServiceName.read)
    var services: [ServiceName]

    func run() throws {
        try Openness(services: services, quiet: quiet, json: json).run(in: PublishedFiles(common))
    }
}

/// Whether the gates of services are open, as `is-open` prints it.
struct Openness {
    let services: [ServiceName]
    var quiet = false
    var json = false

    /// Answers the command line of a script: names, `--quiet` and `--runtime-directory` alone. The exit status; nil for
    /// any other command line, which the parser reads. Scripts ask often, and the parser takes most of the time of a
    /// command (decision 116).
    static func answer(to arguments: [String]) -> Int32? {
        guard arguments.first == "is-open" else { return nil }
        var (names, quiet, directory) = ([ServiceName](), false, String?.none)
        var rest = arguments.dropFirst()
        while let word = rest.popFirst() {
            if word == "--quiet" || word == "-q" {
                quiet = true
            } else if word == "--runtime-directory", let path = rest.popFirst(),
                !path.hasPrefix("-")
            {
                directory = path
            } else if let name = ServiceName(word) {
                names.append(name)
            } else {
                return nil
            }
        }
        if names.isEmpty { return nil }
        do {
            try Openness(services: names, quiet: quiet).run(in: PublishedFiles(in: directory))
            try flushOutput()
            return ExitStatus.success.rawValue
        } catch {
            let failure = CommandFailure(error)
            if !failure.message.isEmpty { printError(failure.message) }
            do { try flushOutput() } catch { printError(error.message) }
            return failure.status.rawValue
        }
    }

    /// Prints the answers; throws unless all gates are open.
    func run(in published: PublishedFiles) throws {
        var failures: [CommandFailure] = []
        for service in services {
            do { try printAnswer(for: service, in: published) } catch let failure as CommandFailure
            {
                failures.append(failure)
            }
        }
        let order: [ExitStatus] = [.noSuchService, .no, .undecided]
        let worst = failures.min {
            (order.firstIndex(of: $0.status) ?? -1) < (order.firstIndex(of: $1.status) ?? -1)
        }
        guard let worst else { return }
        if services.count == 1 { throw worst }
        for failure in failures where !failure.message.isEmpty { printError(failure.message) }
        throw CommandFailure(worst.status)
    }

    /// Prints the answer for a service; throws unless its gate is open.
    private func printAnswer(for service: ServiceName, in published: PublishedFiles) throws {
        let state: PublishedState
        do { state = try readable(service, in: published) } catch let error as FileError {
            throw CommandFailure(.ownFailure, "\(error)")
        }
        guard published.isCurrent(state, at: published.now) else {
            if json { printResult(service, nil, state.state) }
            throw CommandFailure(.undecided, quiet ? "" : published.isOutOfDate(service))
        }
        let shown = published.gate(of: service, beside: state.gate)
        let isObserved = published.isObserved(service) && state.gate != nil
        // Nothing is closed.
        let gate = isObserved ? Gate.open : state.gate
        if json {
            printResult(service, gate, state.state)
        } else if !quiet {
            let tail = isObserved ? ", its gate is \(shown.words ?? "not moved")" : ""
            printLine("\(service): \(gate?.rawValue ?? "undecided") (\(state.summary))\(tail)")
        }
        switch gate {
        case .open: return
        case .closed: throw CommandFailure(.no)
        case nil: throw CommandFailure(.undecided)
        }
    }

    /// The answer as JSON; an unknown fact is null.
    private func printResult(_ service: ServiceName, _ gate: Gate?, _ state: State?) {
        let answer: JSON.Value = .object([
            "service": .string(service.text),
            "open": gate.map { .bool($0 == .open) } ?? .null,
            "state": .optional(state?.rawValue),
        ])
        printJSON(answer, .compact)
    }

    /// The state. If it is unreadable, a marker `closed` ends the command; the age of `open` is unknown.
    private func readable(
        _ service: ServiceName, in published: PublishedFiles
    ) throws -> PublishedState {
        do {
            return try published.known(service)
        } catch let error as UnreadableState {
            let isClosed = error.marker == .closed
            if json { printResult(service, isClosed ? .closed : nil, nil) }
            throw CommandFailure(isClosed ? .no : .undecided, quiet ? "" : "\(error)")
        }
    }
}
