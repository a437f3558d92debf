import ArgumentParser
import CivilTime
import ControlSocket
import Decision
import Files
import JSON
import Storage

/// `killswitchctl force SERVICE… STATE`
struct Force: DaemonOrder {
    static let configuration = CommandConfiguration(
        abstract: "Set the state of services by hand, whatever their flags say.",
        discussion: """
            The order lasts until its end or 'release', over restarts and without a network. 'open' \
            means running, 'closed' maintenance. Returns when systemd has accepted the move; with \
            --wait, when the units have stopped or started.

            example: killswitchctl force shop maintenance --for 2h --reason "disk swap" --wait
            """)

    @OptionGroup var options: OrderOptions

    @Flag(name: .customLong("wait"), help: .waitsForGates) var waitsForGates = false

    @Option(help: "The reason, for status and the journal; at most \(Method.longestReason) bytes.")
    var reason: String

    @Option(
        name: .customLong("for"), help: "How long the order holds, such as 30m, 2h or 7d.",
        transform: DurationArgument.read)
    var duration: DurationArgument?

    @Option(help: "The end of the order, by RFC 3339: 2027-03-01T12:00:00+09:00.")
    var until: String?

    @Flag(name: .customLong("now"), help: "Stop units at once, without the service's drain.")
    var isUrgent = false

    @Flag(name: .customLong("all"), help: "Order it for every service.") var isAll = false

    @Argument(
        help: ArgumentHelp(
            "The services, and last the state: open, closed, or the word of a state.",
            valueName: "service ... state"), completion: .servicesAndStates)
    var words: [String]

    func validate() throws {
        _ = try target
        guard !reason.allSatisfy(\.isWhitespace) else {
            throw ValidationError("--reason is empty; say why, such as --reason 'disk swap'")
        }
        guard reason.utf8.count <= Method.longestReason else {
            throw ValidationError(
                "--reason has \(reason.utf8.count) bytes; the limit is \(Method.longestReason)")
        }
        switch (duration, until) {
        case (nil, nil):
            throw ValidationError(
                "no end given: add --for DURATION, such as --for 2h, or --until TIME")
        case (_?, _?): throw ValidationError("give --for or --until, not both")
        case (let duration?, nil):
            guard duration.duration >= .seconds(1) else {
                throw ValidationError("--for is at least 1s")
            }
            guard duration.duration.wholeSeconds <= Method.longestOrder else {
                throw ValidationError(
                    "--for is at most \(Method.longestOrder / 86_400)d, a hundred years")
            }
        case (nil, let until?):
            guard Instant(argument: until) != nil else {
                throw ValidationError(
                    "--until '\(until)' is not a time; write it like 2027-03-01T12:00:00+09:00")
            }
        }
    }

    private var target: (services: [ServiceName], state: State) {
        get throws {
            var words = words
            let word = words.removeLast()
            guard isAll == words.isEmpty else {
                throw ValidationError(
                    isAll
                        ? "--all is for every service: name none"
                        : "name the service and the state: killswitchctl force SERVICE \(word)")
            }
            do {
                return (try words.map(ServiceName.read), try ForcedState.read(word))
            } catch {
                let wrong = words.first { ServiceName($0) == nil } ?? word
                let thing = ServiceName(wrong) == nil && wrong != word ? "service" : "state"
                throw ValidationError("'\(wrong.printable)' is not a \(thing): \(error)")
            }
        }
    }

    var hasList: Bool { isAll || words.count > 2 }

    func calls() throws -> [OrderCall] {
        let (named, state) = try target
        return try services(named).map { service in
            (
                "Force",
                [
                    "service": .string(service.text), "state": .string(state.rawValue),
                    "reason": .string(reason), "until": .optional(until),
                    "seconds": .optional(duration?.duration.wholeSeconds),
                    "now": .bool(isUrgent),
                ]
            )
        }
    }

    func lines(_ reply: OrderReply) -> [String] {
        let state = reply.object.object("service")
        let order = state.object("override")
        let service = state.text("service")
        let problem = reply.object["problem"]?.string.map {
            "the order is in force but not stored: \($0); a restart would lose it"
        }
        return [
            "\(service): forced to \(state.stateSummary) until \(order.text("until")) by "
                + order.text("author")
                + (reply.gate(of: state).words.map { "; its gate is \($0)" } ?? ""), problem,
            "then its flags decide; to end the order now, type 'killswitchctl release \(service)'",
        ].compactMap(\.self) + reply.gateProblems(of: state)
    }

    /// Says what of a closing was never tried.
    func finish(_ replies: [OrderReply], in published: PublishedFiles) {
        let closed = replies.flatMap(\.answers).filter { $0.1.text("gate") == Gate.closed.rawValue }
        DrillNotice.show(about: closed.map(\.0), in: published)
    }

    /// It failed if the override is not stored, as a restart would lose it, or if the gate cannot be moved.
    func hasFailed(_ reply: OrderReply) -> Bool {
        reply.object["problem"]?.string != nil || reply.isHeldUp
    }
}

/// `killswitchctl release SERVICE…`
struct Release: DaemonOrder {
    static let configuration = CommandConfiguration(
        abstract: "End the order of 'force': the flags decide again.",
        discussion: """
            The flags may close the service too: then the units stay down, the command says so, and \
            exits with 0. With --wait it waits for what the flags decide, also through min_closed \
            and open_spread. Where only the open service will do, type 'killswitchctl wait SERVICE \
            --for up' after it.

            example: killswitchctl release shop --wait
            """)

    @OptionGroup var options: OrderOptions

    @Flag(name: .customLong("wait"), help: .waitsForGates) var waitsForGates = false

    @Flag(name: .customLong("all"), help: "End the orders for all services.") var isAll = false

    @Argument(help: "The services.", completion: .services, transform: ServiceName.read)
    var services: [ServiceName] = []

    func validate() throws {
        guard isAll == services.isEmpty else {
            throw ValidationError("name services, or give --all")
        }
    }

    var hasList: Bool { isAll || services.count > 1 }

    /// Whether an order is in force, by the files; true if they cannot be read.
    private func isForced(_ service: ServiceName) throws -> Bool {
        let published = try PublishedFiles(options.common)
        return readable { try published.state(of: service)?.object["override"] != .null } ?? true
    }

    func calls() throws -> [OrderCall] {
        let named = try services(services)
        let forced = isAll ? try named.filter(isForced) : named
        if forced.isEmpty { printError("no service is forced") }
        return forced.map { ("Release", ["service": .string($0.text)]) }
    }

    func lines(_ reply: OrderReply) -> [String] {
        let state = reply.object.object("service")
        let isKept =
            state.text("gate") == Gate.closed.rawValue && reply.object["opensIn"] == .null
            && reply.gate(of: state).whyUnmovedIfObserved == nil
        let effect =
            reply.object["wasForced"]?.bool ?? false
            ? isKept ? "released, but its flags keep it closed" : "released, its flags decide again"
            : "it was not forced, nothing has changed"
        let service = state.text("service")
        return ["\(service): \(effect)"] + reply.serviceLines
    }

    func hasFailed(_ reply: OrderReply) -> Bool { reply.isHeldUp }
}
