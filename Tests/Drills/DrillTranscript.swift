import CivilTime
import Decision
import Drills
import Gates
import Support
import Testing

/// Plays a drill in a world whose answers are given, and writes down what it asks, a line each. Times are
/// seconds since the order; after the last answer it is broken off. `web.service` is attached to the open gate of
/// `shop`, and `page.service` runs in maintenance.
struct DrillTranscript {
    private var answers: [(seconds: Double, answer: DrillAnswer)] = []
    private var shownFrom: Int?
    private let plan: DrillPlan
    private let limit: Duration

    init(limit: Duration = .seconds(10)) throws {
        var systemd = StandInSystemd()
        try systemd.attach("web.service", to: .open)
        try systemd.attach("page.service", to: .maintenance, .inactive)
        systemd.units["web.service"]?.stopLimit = .seconds(20)
        systemd.units["web.service"]?.startLimit = .seconds(5)
        plan = try systemd.plan()
        self.limit = limit
    }

    /// A drill whose order is taken, and whose gate is about to close.
    static func closing(limit: Duration = .seconds(10)) throws -> DrillTranscript {
        var drill = try DrillTranscript(limit: limit)
        drill.at(0, .ordered)
        drill.at(0, .status(.ordered))
        drill.forget()
        return drill
    }

    /// A drill whose gate is closed, and whose order is about to be ended, at 1 s.
    static func closed(limit: Duration = .seconds(10)) throws -> DrillTranscript {
        var drill = try closing(limit: limit)
        try drill.list(0.5, .closed)
        try drill.read(0.5, ["web.service": .wentDown(at: 0.4)])
        drill.at(0.5, .status(.ordered))
        drill.at(0.5, .tried(.refused))
        drill.at(0.5, .status(.ordered))
        try drill.read(0.5, ["page.service": .cameUp(at: 0.5)])
        drill.forget()
        drill.at(1, .unitProblems([:], problem: nil))
        return drill
    }

    /// Shows nothing of what came before.
    mutating func forget() { shownFrom = answers.count }

    mutating func at(_ seconds: Double, _ answer: DrillAnswer) { answers.append((seconds, answer)) }

    /// What the drill asks, each before its answer.
    var text: String {
        get throws {
            let world = StandInWorld(answers, shownFrom: shownFrom)
            var run = DrillRun(plan, limit: limit, in: world)
            return world.text(to: try run.run())
        }
    }

    func expect(_ expected: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try text == expected + "\n", sourceLocation: sourceLocation)
    }

    /// Where the gate is on its way.
    enum Place { case open, closing, closed, opening }

    /// systemd lists everything as it is at this place.
    mutating func list(_ seconds: Double, _ place: Place) throws {
        let web: ActiveState =
            switch place {
            case .open: .active
            case .closing: .deactivating
            case .closed: .inactive
            case .opening: .activating
            }
        let isClosed = place == .closed
        var seen: [UnitName: UnitStatus] = [:]
        seen["web.service"] = UnitStatus(web)
        seen["page.service"] = UnitStatus(isClosed ? .active : .inactive)
        seen["killswitch-open@shop.target"] = UnitStatus(
            isClosed ? .inactive : .active, hasJob: place == .closing)
        for target in plan.closedTargets {
            seen[target] = UnitStatus(isClosed ? .active : .inactive)
        }
        at(seconds, .listed(seen))
    }

    mutating func read(
        _ seconds: Double, _ units: [String: UnitSnapshot], problem: String? = nil
    ) throws {
        var snapshots: [UnitName: UnitSnapshot] = [:]
        for (text, snapshot) in units { snapshots[try unitName(text)] = snapshot }
        at(seconds, .read(snapshots, problem: problem))
    }

    /// The pause of the closing is over, the order is in force, and everything stands like this.
    mutating func pollAgain(_ seconds: Double, _ place: Place) throws {
        at(seconds, .woke)
        at(seconds, .status(.ordered))
        try list(seconds, place)
    }

    /// While the gate opens, everything stands like this.
    mutating func poll(_ seconds: Double, _ place: Place) throws {
        try list(seconds, place)
        at(seconds, .status(.open))
    }

    /// The units are read while `web.service` still stops, and `page.service` was never up.
    mutating func readStopping(_ seconds: Double) throws {
        try read(
            seconds,
            [
                "web.service": UnitSnapshot(UnitStatus(.deactivating)),
                "page.service": .wentDown(at: -9),
            ])
    }

    /// No unit has a problem, and the order ends.
    mutating func release(_ seconds: Double, openAt end: Double) {
        at(seconds, .unitProblems([:], problem: nil))
        at(end, .released(.open))
    }

    /// Everything is read at the end, and it is as before.
    mutating func end(_ seconds: Double, web: UnitSnapshot, _ status: OrderStatus) throws {
        try read(
            seconds,
            [
                "web.service": web, "page.service": .wentDown(at: 1.2, leftAt: 0.5),
                "killswitch-open@shop.target": .cameUp(at: 1.1),
            ])
        at(seconds, .unitProblems([:], problem: nil))
        at(seconds, .status(status))
    }
}

extension UnitSnapshot {
    init(_ seen: UnitStatus, result: String) {
        self.init(seen)
        self.result = result
    }

    /// Down since a moment after the order.
    static func wentDown(
        at seconds: Double, _ active: ActiveState = .inactive, leftAt: Double = -50
    ) -> UnitSnapshot {
        var snapshot = UnitSnapshot(UnitStatus(active), result: "success")
        snapshot.downSince = Uptime(microseconds: 100_000_000 + Int64(seconds * 1_000_000))
        snapshot.leftDown = Uptime(microseconds: 100_000_000 + Int64(leftAt * 1_000_000))
        return snapshot
    }

    /// Up since a moment after the order.
    static func cameUp(at seconds: Double, downAt: Double? = nil) -> UnitSnapshot {
        var snapshot = UnitSnapshot(UnitStatus(.active), result: "success")
        snapshot.upSince = Uptime(microseconds: 100_000_000 + Int64(seconds * 1_000_000))
        snapshot.leftDown = snapshot.upSince
        snapshot.downSince = downAt.map {
            Uptime(microseconds: 100_000_000 + Int64($0 * 1_000_000))
        }
        return snapshot
    }
}

/// Units as a test tells of them, for a drill of `shop`.
struct StandInSystemd {
    var units: [String: UnitSnapshot] = [:]

    /// Attaches a unit to a target of the shop.
    mutating func attach(
        _ unit: String, to kind: GateTarget.Kind, of service: String = "shop",
        isStarted: Bool = true, _ active: ActiveState = .active
    ) throws {
        let target = try #require(GateTarget(service: named(service), kind: kind).unit).text
        var snapshot =
            units[target] ?? UnitSnapshot(UnitStatus(kind == .open ? .active : .inactive))
        snapshot.tied.append(try unitName(unit))
        if isStarted { snapshot.wants.append(try unitName(unit)) }
        units[target] = snapshot
        if units[unit] == nil { units[unit] = UnitSnapshot(UnitStatus(active)) }
    }

    mutating func add(
        _ unit: String, dependingOn other: String, _ active: ActiveState = .active
    ) throws {
        units[other]?.stopsWith.append(try unitName(unit))
        if units[unit] == nil { units[unit] = UnitSnapshot(UnitStatus(active)) }
    }

    func plan(
        from stand: DesiredGate = DesiredGate(gate: .open, state: .running),
        to state: State = .maintenance
    ) throws -> DrillPlan {
        try DrillPlan(of: "shop", from: stand, to: state) { unit in
            units[unit.text] ?? UnitSnapshot(UnitStatus(.inactive))
        }
    }
}

extension DrillPlan {
    /// A line for each unit: its name, what it is, and whether the gate starts it.
    var lines: [String] {
        units.map { unit in
            let kind =
                switch unit.kind {
                case .attached: "attached"
                case .dependent(let other): "on \(other)"
                case .state: "state"
                }
            return "\(unit.name) \(kind)\(unit.isStarted ? " started" : "")"
        }
    }
}
