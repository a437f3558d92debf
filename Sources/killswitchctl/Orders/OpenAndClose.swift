import ArgumentParser
import CivilTime
import Configuration
import ControlSocket
import Decision
import EventLoop
import JSON
import Storage

/// `killswitchctl open SERVICE…`
struct Open: HandOrder {
    static let configuration = CommandConfiguration(
        abstract: "Open services by hand, whatever their flags say.",
        discussion: """
            At a terminal it asks for the reason and the end where they are missing, waits, and shows \
            the units come. The order holds until its end or 'release', over restarts and without a \
            network; then the flags decide again.

            --without-daemon (root): the way out while killswitchd is down. It deletes 'targets', gives \
            the marker 'closed' the name 'open', without which no unit starts, starts the target of \
            the open gate, and deletes 'unavailable', for which web servers send the page. When \
            killswitchd starts again, the flags decide.

            example: killswitchctl open shop -m "supplier is back" --for 2h
            """)

    @OptionGroup var options: OrderOptions

    @OptionGroup var waiting: GateWaitOptions

    @OptionGroup var terms: OrderTerms

    @OptionGroup var services: OrderedServices

    @Flag(help: "Open the gate while killswitchd does not run. For root.") var withoutDaemon = false

    var state: State { .running }

    var isUrgent: Bool { false }

    func validate() throws {
        guard withoutDaemon else { return try terms.requireOrAsk() }
        guard terms.areUnused, waiting.areUnused else {
            throw ValidationError(
                "remove --reason, --for, --until and --wait: an order for killswitchd has them, and "
                    + "--without-daemon gives none")
        }
    }

    mutating func run() throws {
        guard withoutDaemon else { return try carryOutByHand() }
        try OpeningWithoutDaemon(
            services.isAll ? nil : services.named, options.common, json: options.json
        ).run()
    }
}

/// `killswitchctl close SERVICE…`
struct Close: HandOrder {
    static let configuration = CommandConfiguration(
        abstract: "Close services by hand, whatever their flags say.",
        discussion: """
            At a terminal it asks for the reason and the end where they are missing, waits, and shows \
            the units stop. The order holds until its end or 'release', over restarts and without a \
            network; then the flags decide again.

            example: killswitchctl close shop -m "disk swap" --for 2h --wait
            """)

    @OptionGroup var options: OrderOptions

    @OptionGroup var waiting: GateWaitOptions

    @OptionGroup var terms: OrderTerms

    @OptionGroup var services: OrderedServices

    @Option(
        name: .customLong("state"), help: "The state: maintenance, update-required or ended.")
    var closed: ClosedState = .maintenance

    @Flag(name: .customLong("now"), help: "Stop units at once, without the service's drain.")
    var isUrgent = false

    var state: State { closed.state }

    func validate() throws { try terms.requireOrAsk() }

    mutating func run() throws { try carryOutByHand() }

    /// Says what of a closing was never tried.
    func finish(_ replies: [OrderReply], in published: PublishedFiles) {
        let closed = replies.flatMap(\.answers).filter { $0.1.text("gate") == Gate.closed.rawValue }
        DrillNotice.show(about: closed.map(\.0), in: published)
    }
}

/// The reason and the end of an order by hand.
struct OrderTerms: ParsableArguments {
    @Option(
        name: [.customShort("m"), .long],
        help: ArgumentHelp(
            "Why, for status and the journal; at most \(Method.longestReason) bytes.",
            valueName: "text"))
    var reason: String?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "How long the order holds, such as 30m, 2h or 7d.", valueName: "duration"),
        transform: DurationArgument.read)
    var duration: DurationArgument?

    @Option(
        help: ArgumentHelp(
            """
            When the order ends, by RFC 3339: 2027-03-01T12:00:00+09:00; or 'released': it holds until \
            somebody releases it.
            """,
            valueName: "time"), transform: OrderEnd.read)
    var until: OrderEnd?

    /// Whether neither a reason nor an end is given.
    var areUnused: Bool { reason == nil && duration == nil && until == nil }

    func validate() throws {
        if let reason { try Self.check(reason) }
        if let duration {
            guard until == nil else { throw ValidationError("give --for or --until, not both") }
            try Self.check(duration.duration)
        }
    }

    /// The end, as `--for` or `--until` give it; nil without one.
    var end: OrderEnd? { duration.map { .after($0.duration) } ?? until }

    private static func check(_ reason: String) throws {
        guard !reason.allSatisfy(\.isWhitespace) else {
            throw ValidationError("--reason is empty; say why, such as --reason 'disk swap'")
        }
        guard reason.utf8.count <= Method.longestReason else {
            throw ValidationError(
                "--reason has \(reason.utf8.count) bytes; the limit is \(Method.longestReason)")
        }
    }

    private static func check(_ duration: Duration) throws {
        guard duration >= .seconds(1) else { throw ValidationError("--for is at least 1s") }
        guard duration.wholeSeconds <= Method.longestOrder else {
            throw ValidationError(
                "--for is at most \(Method.longestOrder / 86_400)d, a hundred years")
        }
    }

    /// Throws if the reason or the end is missing, and nobody can be asked.
    fileprivate func requireOrAsk() throws {
        if Terminal.canAsk { return }
        guard reason != nil || end != nil else {
            throw ValidationError(
                "no reason and no end given: add both, such as -m 'disk swap' --for 2h; --until released "
                    + "has no end")
        }
        guard reason != nil else {
            throw ValidationError("no reason given: say why, such as -m 'disk swap'")
        }
        guard end != nil else {
            throw ValidationError(
                "no end given: add --for DURATION, such as --for 2h, or --until TIME, or --until released"
            )
        }
    }

    /// Asks the person at the terminal for what is missing. Returns whether anything was.
    fileprivate mutating func complete() throws -> Bool {
        guard reason == nil || end == nil else { return false }
        if reason == nil {
            reason = try Terminal.ask("Why, for status and the journal: ") { try Self.check($0) }
        }
        if end == nil {
            _ = try Terminal.ask(
                "For how long, such as 2h; 'released': until somebody releases it: "
            ) {
                guard let duration = Duration(text: $0) else {
                    until = try OrderEnd($0)
                    guard until == nil else { return }
                    throw ValidationError(
                        "write how long, such as 2h, a time like \(Instant.example), or 'released'")
                }
                try Self.check(duration)
                self.duration = DurationArgument(duration)
            }
        }
        return true
    }
}

/// When an order ends.
enum OrderEnd {
    case after(Duration)
    /// As it was typed, by RFC 3339.
    case at(String)
    case released

    /// The word of `--until`.
    static func read(_ word: String) throws -> OrderEnd {
        if let end = try OrderEnd(word) { return end }
        throw ValidationError(
            Duration(text: word) != nil
                ? "a duration goes with --for: --for \(word)"
                : "write a time like \(Instant.example), or 'released'")
    }

    /// Nil for a word that is neither a time nor 'released'; throws for a time that is past.
    fileprivate init?(_ word: String) throws {
        if word == "released" {
            self = .released
            return
        }
        guard let time = Instant(argument: word) else { return nil }
        guard time > EventLoop.wallClock else {
            throw ValidationError("'\(word)' is past already; give --for DURATION, such as 2h")
        }
        self = .at(word)
    }

    /// The parameters of the method that say it.
    fileprivate var parameters: (until: String?, seconds: Int64?) {
        switch self {
        case .after(let duration): (nil, duration.wholeSeconds)
        case .at(let time): (time, nil)
        case .released: ("released", nil)
        }
    }

    /// The end in words for the person who is about to give the order.
    fileprivate var words: String {
        switch self {
        case .after(let duration): "for \(duration.text)"
        case .at(let time): "until \(time)"
        case .released: "until somebody releases it"
        }
    }
}

/// An order by hand, which comes before all flags.
protocol HandOrder: GateOrder {
    var terms: OrderTerms { get set }
    var services: OrderedServices { get }
    /// The ordered state.
    var state: State { get }
    /// Whether units stop at once, without the service's drain.
    var isUrgent: Bool { get }
}

extension HandOrder {
    var hasList: Bool { services.isList }

    /// Asks for what is missing, says what will happen, and gives the order.
    mutating func carryOutByHand() throws {
        if terms.reason == nil || terms.end == nil, Terminal.canAsk { try showPresent() }
        if try terms.complete() {
            let names =
                services.isAll
                ? "every service" : services.named.map(\.text).joined(separator: ", ")
            let word = state == .running ? "opens" : "closes (\(state.rawValue))"
            complain(
                "\(names) \(word) \(terms.end?.words ?? "") on this host, whatever the flags say; then they decide again"
            )
            let answer = try Terminal.ask("Enter gives the order, any word leaves all as it is: ") {
                _ in
            }
            guard ["", "y", "yes"].contains(answer.lowercased()) else {
                throw CommandFailure("nothing was ordered")
            }
        }
        try carryOut()
    }

    /// Says how the named services stand, before it asks about them.
    private func showPresent() throws {
        let published = try PublishedFiles(options.common)
        try published.requireDaemon()
        // One that was killed a moment ago has left a sign of life.
        guard published.hasListener else {
            throw CommandFailure(.unreachable, "killswitchd does not run; see \(DeadDaemon.advice)")
        }
        for service in services.named {
            let state = try published.known(service)
            complain("\(service) is \(state.summary): \(state.object.text("reason_text"))")
        }
    }

    func calls() throws -> [OrderCall] {
        let end = terms.end?.parameters
        return try known(services.named).map { service in
            (
                "Force",
                [
                    "service": .string(service.text), "state": .string(state.rawValue),
                    "reason": .optional(terms.reason), "until": .optional(end?.until),
                    "seconds": .optional(end?.seconds), "now": .bool(isUrgent),
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
            "\(service): forced to \(state.stateSummary) by \(order.text("author")) until \(order.end)"
                + (reply.gate(of: state).words.map { "; its gate is \($0)" } ?? ""), problem,
            "then its flags decide; to end the order now, type 'killswitchctl release \(service)'",
        ].compactMap(\.self) + reply.gateProblems(of: state)
    }

    /// It failed if the override is not stored, as a restart would lose it, or if the gate cannot be moved.
    func hasFailed(_ reply: OrderReply) -> Bool {
        reply.object["problem"]?.string != nil || reply.isHeldUp
    }
}

extension JSON.Object {
    /// The end of an `override` in words: its time, or that somebody has to release it.
    var end: String { self["until"]?.string ?? "it is released" }
}
