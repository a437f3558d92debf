import ArgumentParser
import CivilTime
import Decision
import EventLoop
import Records

/// `killswitchctl wait SERVICE --for WHAT`
struct Wait: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Wait until a service is in a state.",
        discussion: """
            Exits with 0 when it is so, and with 124 when the timeout is over first. A state file \
            that is out of date does not count, and for one that cannot be read the marker does. \
            Waits for a daemon that is not there yet.

            example: killswitchctl wait shop --for open --timeout 30s
            """)

    @OptionGroup var common: CommonOptions

    @Option(
        name: .customLong("for"),
        help: "What to wait for: open, closed, decided, or the word of a state.",
        completion: .list(Goal.allValueStrings))
    var goal: Goal

    @Option(help: "How long to wait, such as 500ms, 30s or 5m; without it for ever.")
    var timeout: Timeout?

    @Argument(help: "The service.", completion: .services)
    var service: ServiceName

    func run() throws {
        let published = try Published(common)
        let waiting = try Waiting(for: goal, of: service, in: published, at: timeout?.duration)
        switch try waiting.run() {
        case .reached:
            return
        case .timedOut:
            throw CommandFailure(.timedOut, "'\(service)' is not \(goal.text) yet: \(waiting.last)")
        case .unknownService:
            throw try published.unknown(service)
        }
    }
}

/// What `wait` waits for.
enum Goal: ExpressibleByArgument {
    case gate(Gate)
    case decided
    case state(State)

    init?(argument: String) {
        if let gate = Gate(rawValue: argument) {
            self = .gate(gate)
        } else if argument == "decided" {
            self = .decided
        } else if let state = State(rawValue: argument) {
            self = .state(state)
        } else {
            return nil
        }
    }

    static var allValueStrings: [String] {
        Gate.allCases.map(\.rawValue) + ["decided"] + State.allCases.map(\.rawValue)
    }

    /// As it would be typed.
    var defaultValueDescription: String { text }

    var text: String {
        switch self {
        case .gate(let gate): gate.rawValue
        case .decided: "decided"
        case .state(let state): state.rawValue
        }
    }

    func isReached(by state: PublishedState) -> Bool {
        switch self {
        case .gate(let gate): state.gate == gate
        case .decided: state.state != .undecided
        case .state(let wanted): state.state == wanted
        }
    }

    /// The same by the marker, where there is nothing else to go by. It names no state.
    func isReached(by marker: Gate?) -> Bool {
        switch self {
        case .gate(let gate): marker == gate
        case .decided: marker != nil
        case .state: false
        }
    }
}
