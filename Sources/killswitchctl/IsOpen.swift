import ArgumentParser
import Decision
import JSON
import Records

/// `killswitchctl is-open SERVICE`
struct IsOpen: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say by the exit status whether a service may run.",
        discussion: """
            Exits with 0 when the gate is open, 1 when it is closed, 3 when the service is undecided \
            or its state file is out of date, 4 when there is no such service.

            example: killswitchctl is-open --quiet shop || exit 0
            """)

    @OptionGroup var common: CommonOptions

    @Flag(name: .shortAndLong, help: "Print nothing.")
    var quiet = false

    @Flag(help: "Print the answer as JSON.")
    var json = false

    @Argument(help: "The service.", completion: .services)
    var service: ServiceName

    func run() throws {
        let published = try Published(common)
        let state = try published.known(service)
        guard state.isCurrent(at: published.now) else {
            throw CommandFailure(.undecided, quiet ? nil : published.isOutOfDate(service))
        }
        if json {
            let answer: JSON.Value = .object([
                "service": .string(service.text), "open": .bool(state.gate == .open),
                "state": .string(state.state.rawValue),
            ])
            print(answer.serialized(.compact))
        } else if !quiet {
            print("\(service): \(state.gate?.rawValue ?? "undecided") (\(state.summary))")
        }
        switch state.gate {
        case .open: return
        case .closed: throw CommandFailure(.no)
        case nil: throw CommandFailure(.undecided)
        }
    }
}
