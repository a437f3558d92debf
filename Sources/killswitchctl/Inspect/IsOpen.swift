import ArgumentParser
import Decision
import Files
import JSON
import Storage

/// `killswitchctl is-open SERVICE`
struct IsOpen: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say by the exit status whether a service may run.",
        discussion: """
            Exits with 0 when the gate is open, 1 when it is closed, 3 when the service is undecided, \
            its state file is out of date or no daemon has run since the boot, 4 when there is no such service. If the state file cannot be read, \
            a marker that closes counts; else the exit status is 3. If the command itself fails, such \
            as on a full disk, the exit status is 70 unless the gate is closed.

            example: killswitchctl is-open --quiet shop || exit 0
            """)

    @OptionGroup var common: CommonOptions

    @Flag(name: .shortAndLong, help: "Print nothing.") var quiet = false

    @Flag(help: "Print the answer as JSON.") var json = false

    @Argument(help: "The service.", completion: .services, transform: ServiceName.read)
    var service: ServiceName

    func run() throws {
        let published = try PublishedFiles(common)
        let state: PublishedState
        do { state = try readable(published) } catch let error as FileError {
            throw CommandFailure(.ownFailure, "\(error)")
        }
        guard published.isCurrent(state, at: published.now) else {
            if json { printResult(nil, state.state) }
            throw CommandFailure(.undecided, quiet ? "" : published.isOutOfDate(service))
        }
        let shown = published.gate(of: service, beside: state.gate)
        let isObserved = published.isObserved(service) && state.gate != nil
        // Nothing is closed.
        let gate = isObserved ? Gate.open : state.gate
        if json {
            printResult(gate, state.state)
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
    private func printResult(_ gate: Gate?, _ state: State?) {
        let answer: JSON.Value = .object([
            "service": .string(service.text),
            "open": gate.map { .bool($0 == .open) } ?? .null,
            "state": .optional(state?.rawValue),
        ])
        printJSON(answer, .compact)
    }

    /// The state. If it is unreadable, a marker `closed` ends the command; the age of `open` is unknown.
    private func readable(_ published: PublishedFiles) throws -> PublishedState {
        do {
            return try published.known(service)
        } catch let error as UnreadableState {
            let isClosed = error.marker == .closed
            if json { printResult(isClosed ? .closed : nil, nil) }
            throw CommandFailure(isClosed ? .no : .undecided, quiet ? "" : "\(error)")
        }
    }
}
