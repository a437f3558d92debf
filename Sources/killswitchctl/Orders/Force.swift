import ArgumentParser
import CivilTime
import Control
import Decision
import JSON

/// `killswitchctl force SERVICE STATE`
struct Force: OrderCommand {
    static let configuration = CommandConfiguration(
        abstract: "Order a state for a service, whatever its flags say.",
        discussion: """
            The order holds until its end or until 'release', also over restarts and without a \
            network. Its author, reason and end are in the journal and in 'status'.

            The order is answered when systemd has taken the move: units may still be stopping. With             --wait it is answered when they are down or up.

            example: killswitchctl force shop maintenance --for 2h --reason "disk swap" --wait
            """)

    @OptionGroup var options: OrderOptions

    @OptionGroup var waiting: WaitingOptions

    @Option(help: "The reason, for status and the journal; at most \(Method.longestReason) bytes.")
    var reason: String

    @Option(name: .customLong("for"), help: "How long the order holds, such as 30m, 2h or 7d.")
    var duration: DurationArgument?

    @Option(help: "The end of the order, by RFC 3339: 2027-03-01T12:00:00+09:00.")
    var until: String?

    @Argument(help: "The service.", completion: .services)
    var service: ServiceName

    @Argument(help: "The state to force.")
    var state: State

    func validate() throws {
        guard !reason.allSatisfy(\.isWhitespace) else {
            throw ValidationError("--reason is empty; say why, such as --reason 'disk swap'")
        }
        guard reason.utf8.count <= Method.longestReason else {
            throw ValidationError(
                "--reason has \(reason.utf8.count) bytes; the limit is \(Method.longestReason)")
        }
        switch (duration, until) {
        case (nil, nil):
            throw ValidationError("until when? give --for DURATION, such as --for 2h, or --until")
        case (_?, _?):
            throw ValidationError("--for and --until say the same thing; give one of them")
        case (let duration?, nil):
            guard duration.duration >= .seconds(1) else {
                throw ValidationError("--for is at least 1s")
            }
        case (nil, let until?):
            guard Instant(argument: until) != nil else {
                throw ValidationError(
                    "--until '\(until)' is no time; write it like 2027-03-01T12:00:00+09:00")
            }
        }
    }

    var waitsForGates: Bool { waiting.isOn }

    var call: OrderCall {
        let parameters: JSON.Object = [
            "service": .string(service.text), "state": .string(state.rawValue),
            "reason": .string(reason), "until": .optional(until),
            "seconds": .optional(duration?.duration.wholeSeconds),
        ]
        return ("Force", parameters)
    }

    func lines(_ reply: OrderReply) -> [String] {
        let state = reply.object.object("service")
        let order = state.object("override")
        let problem = reply.object["problem"]?.string.map {
            "but it could not be stored, and a restart would lose it: \($0)"
        }
        return [
            "\(service): forced to be \(reply.stateAndGate(state)), until \(order.text("until")) "
                + "by \(order.text("author"))", problem,
            "its flags decide again after that, or with 'killswitchctl release \(service)'",
        ].compactMap(\.self) + reply.gateProblems(of: state)
    }

    /// It failed if the override could not be stored, for a restart would lose it, or if the gate cannot be
    /// moved.
    func hasFailed(_ reply: OrderReply) -> Bool {
        reply.object["problem"]?.string != nil || reply.isStuck
    }
}

/// `killswitchctl release SERVICE`
struct Release: OrderCommand {
    static let configuration = CommandConfiguration(
        abstract: "End the order of 'force': the flags decide again.",
        discussion: "example: killswitchctl release shop --wait")

    @OptionGroup var options: OrderOptions

    @OptionGroup var waiting: WaitingOptions

    @Argument(help: "The service.", completion: .services)
    var service: ServiceName

    var waitsForGates: Bool { waiting.isOn }

    var call: OrderCall { ("Release", ["service": .string(service.text)]) }

    func lines(_ reply: OrderReply) -> [String] {
        let effect =
            reply.object["wasForced"]?.bool ?? false
            ? "released, its flags decide again" : "it was not forced, nothing has changed"
        return ["\(service): \(effect)"] + reply.serviceLines
    }

    /// It failed if the gate cannot be moved.
    func hasFailed(_ reply: OrderReply) -> Bool { reply.isStuck }
}
