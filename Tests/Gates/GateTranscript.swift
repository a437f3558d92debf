import CivilTime
import Decision
import Gates
import Support
import Testing

/// Sends events to a gate machine and writes down its effects, a line each. Times are seconds since the start.
struct GateTranscript {
    private(set) var text = ""
    private(set) var machine: GateMachine
    let shop: ServiceName = "shop"
    /// Whether requests to systemd and the rows of units.json are in the text too.
    let showsAll: Bool
    /// Whether the reports of gate.json are in the text too.
    let showsGates: Bool

    init(_ services: [String] = ["shop"], showsAll: Bool = false, showsGates: Bool = false) throws {
        machine = GateMachine(services: try services.map { try named($0) })
        self.showsAll = showsAll
        self.showsGates = showsGates
    }

    /// A machine that has connected to a bus with these active targets of the shop, which is not decided.
    static func started(
        _ active: GateTarget.Kind..., showsAll: Bool = false, showsGates: Bool = false
    ) throws -> GateTranscript {
        var transcript = try GateTranscript(showsAll: showsAll, showsGates: showsGates)
        transcript.at(0, .started)
        try transcript.list(0, active)
        return transcript
    }

    /// A machine with the open gates of the shop and of `other`, which both start the running `web.service`.
    static func shared(with other: ServiceName, showsAll: Bool = false) throws -> GateTranscript {
        var transcript = try GateTranscript([other.text, "shop"], showsAll: showsAll)
        transcript.at(0, .started)
        let services = [other, transcript.shop]
        let open = try services.map { try unit(.open, of: $0) }
        transcript.at(0, .targetsListed(open.reduce(into: [:]) { $0[$1] = UnitStatus(.active) }))
        for service in services { transcript.at(0, .decided(service, .running)) }
        let attached = UnitSnapshot(
            UnitStatus(.active), requisiteOf: ["web.service"], wants: ["web.service"])
        for name in open { transcript.at(0, .unitRead(name, attached)) }
        transcript.at(0, .unitRead("web.service", UnitSnapshot(UnitStatus(.active))))
        for service in services {
            let closed = try unit(.closed, of: service)
            transcript.at(0, .unitRead(closed, UnitSnapshot(UnitStatus(.inactive))))
        }
        return transcript
    }

    /// A machine with a bus and a decided service `shop`, whose gate is settled.
    static func settled(
        _ stand: DesiredGate = .running, units: [String: UnitStatus] = [:],
        starts: Set<String>? = nil, showsGates: Bool = false
    ) throws -> GateTranscript {
        var transcript = try GateTranscript(showsGates: showsGates)
        transcript.at(0, .started)
        let active: [GateTarget.Kind] =
            stand.state == .ended
            ? [.closed, .ended] : stand.state == .maintenance ? [.closed, .maintenance] : [.open]
        try transcript.list(0, active)
        transcript.decide(0, stand)
        try transcript.attach(units, starts: starts, isOpen: active == [.open])
        transcript.forget()
        return transcript
    }

    /// Lets the machine read the units that are attached to the open target, and their states.
    mutating func attach(
        _ units: [String: UnitStatus], starts: Set<String>? = nil, isOpen: Bool
    ) throws {
        let names = try units.keys.sorted().map { try unitName($0) }
        let wants = try (starts ?? Set(units.keys)).sorted().map { try unitName($0) }
        let open = UnitStatus(isOpen ? .active : .inactive)
        at(0, .unitRead(try unit(.open), UnitSnapshot(open, requisiteOf: names, wants: wants)))
        try read(0, .closed, isOpen ? .inactive : .active)
        for (name, seen) in units.sorted(by: { $0.key < $1.key }) {
            at(0, .unitRead(try unitName(name), UnitSnapshot(seen, stopLimit: .seconds(10))))
        }
    }

    mutating func forget() { text = "" }

    @discardableResult mutating func at(_ seconds: Double, _ event: GateEvent) -> [GateEffect] {
        let now = Self.time(seconds)
        let effects = machine.handle(event, at: now)
        text += "\(secondsText(seconds)) \(Self.line(event))\n"
        for effect in effects {
            if let line = line(effect, since: now) { text += "    \(line)\n" }
        }
        return effects
    }

    func expect(_ expected: String, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(text == expected + "\n", sourceLocation: sourceLocation)
    }

    @discardableResult
    mutating func decide(
        _ seconds: Double, _ desired: DesiredGate, drainsUntil end: Double? = nil
    ) -> [GateEffect] {
        at(seconds, .decided(shop, desired, drainsUntil: end.map { Self.time($0) }))
    }

    /// The transcript after the shop is decided, which is in the text.
    func decided(
        _ seconds: Double, _ desired: DesiredGate, drainsUntil end: Double? = nil
    ) -> GateTranscript {
        var gate = self
        gate.decide(seconds, desired, drainsUntil: end)
        return gate
    }

    static func time(_ seconds: Double) -> Boottime {
        Boottime(microseconds: 1_000_000_000 + Int64(seconds * 1_000_000))
    }

    func report(at seconds: Double) -> GateStatus? {
        machine.report(of: shop, at: Self.time(seconds))
    }

    var problems: [String] { machine.overview.problems.map(\.sentence) }

    /// systemd lists these targets of the shop as active.
    @discardableResult
    mutating func list(_ seconds: Double, _ active: [GateTarget.Kind]) throws -> [GateEffect] {
        at(
            seconds,
            .targetsListed(
                try active.reduce(into: [:]) { $0[try unit($1)] = UnitStatus(.active) }))
    }

    @discardableResult
    mutating func list(_ seconds: Double, _ active: GateTarget.Kind...) throws -> [GateEffect] {
        try list(seconds, active)
    }

    /// A target of the shop is read, which starts these units.
    @discardableResult
    mutating func read(
        _ seconds: Double, _ kind: GateTarget.Kind, _ active: ActiveState,
        _ units: [UnitName] = []
    ) throws -> [GateEffect] {
        at(
            seconds,
            .unitRead(
                try unit(kind),
                UnitSnapshot(UnitStatus(active), requisiteOf: units, wants: units)))
    }

    mutating func read(
        _ seconds: Double, _ name: String, _ active: ActiveState, hasJob: Bool = false,
        result: String? = nil
    ) throws {
        at(
            seconds,
            .unitRead(
                try unitName(name), UnitSnapshot(UnitStatus(active, hasJob: hasJob), result: result)
            ))
    }

    /// systemd has confirmed a move, and these targets are read: active but for the first, which starts `units`.
    mutating func readMoved(
        _ seconds: Double, from kind: GateTarget.Kind, with units: [String] = [],
        to active: GateTarget.Kind...
    ) throws {
        try read(seconds, kind, .inactive, units.map { try unitName($0) })
        for kind in active { try read(seconds, kind, .active) }
    }

    mutating func at(_ seconds: Double, started kinds: GateTarget.Kind...) throws {
        for kind in kinds { at(seconds, taken: .start(try target(kind))) }
    }

    mutating func at(
        _ seconds: Double, _ kind: GateTarget.Kind, is active: ActiveState, hasJob: Bool = false
    ) throws {
        at(seconds, .unitChanged(try unit(kind), UnitStatus(active, hasJob: hasJob)))
    }

    mutating func at(
        _ seconds: Double, inactive: [GateTarget.Kind] = [], active: [GateTarget.Kind] = []
    ) throws {
        for kind in inactive { try at(seconds, kind, is: .inactive) }
        for kind in active { try at(seconds, kind, is: .active) }
    }

    mutating func at(
        _ seconds: Double, _ name: String, is active: ActiveState, hasJob: Bool = false
    ) throws {
        at(seconds, .unitChanged(try unitName(name), UnitStatus(active, hasJob: hasJob)))
    }

    /// systemd accepts a job, and then reports this state of its target.
    mutating func at(
        _ seconds: Double, taken move: TargetJob, problem: String? = nil, number: UInt32 = 0
    ) {
        let problem = problem.map(GateObstacle.refused)
        at(seconds, .jobAnswered(move, problem: problem, number: number))
    }
}

extension UnitSnapshot {
    /// A unit as a test states it; the rest is not known.
    init(
        _ seen: UnitStatus, result: String? = nil, isStartRefused: Bool = false,
        stopLimit: Duration? = nil,
        requisiteOf: [UnitName] = [], wants: [UnitName] = []
    ) {
        self.init(seen)
        self.result = result
        self.isStartRefused = isStartRefused
        self.stopLimit = stopLimit
        self.requisiteOf = requisiteOf
        self.wants = wants
    }
}

extension DesiredGate {
    static let running = DesiredGate(gate: .open, state: .running)
    static let ended = DesiredGate(gate: .closed, state: .ended)
    static let maintenance = DesiredGate(gate: .closed, state: .maintenance)
}

func target(_ kind: GateTarget.Kind) throws -> GateTarget {
    GateTarget(service: "shop", kind: kind)
}

func unit(_ kind: GateTarget.Kind) throws -> UnitName { try unit(kind, of: named("shop")) }

func unit(_ kind: GateTarget.Kind, of service: ServiceName) throws -> UnitName {
    guard let name = GateTarget(service: service, kind: kind).unit else {
        throw InvalidFlag.missing(key: "unit")
    }
    return name
}
