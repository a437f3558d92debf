import CivilTime
import Decision
import Testing

/// Plays events to a drill's machine and writes down what it wants done, a line each. Times are seconds
/// since the order. `web.service` is attached to the open gate of `shop`, and `page.service` runs in
/// maintenance.
struct DrillTranscript {
    private(set) var text = ""
    private var machine: DrillMachine
    private let plan: DrillPlan

    init(limit: Duration = .seconds(10)) throws {
        var systemd = StandInSystemd()
        try systemd.attach("web.service", to: .open)
        try systemd.attach("page.service", to: .maintenance, .inactive)
        systemd.units["web.service"]?.stopLimit = .seconds(20)
        systemd.units["web.service"]?.startLimit = .seconds(5)
        plan = try systemd.plan()
        machine = DrillMachine(plan, limit: limit, at: Self.time(0))
    }

    /// A drill whose order is taken, and whose gate is about to close.
    static func closing(limit: Duration = .seconds(10)) throws -> DrillTranscript {
        var drill = try DrillTranscript(limit: limit)
        drill.at(0, .started)
        drill.at(0, .ordered)
        drill.at(0, .standing(.ordered))
        drill.forget()
        return drill
    }

    /// A drill whose gate is closed, and whose order is about to be ended, at 1 s.
    static func closed(limit: Duration = .seconds(10)) throws -> DrillTranscript {
        var drill = try closing(limit: limit)
        try drill.list(0.5, .closed)
        try drill.read(0.5, ["web.service": .wentDown(at: 0.4)])
        drill.at(0.5, .standing(.ordered))
        drill.at(0.5, .tried(.refused))
        drill.at(0.5, .standing(.ordered))
        try drill.read(0.5, ["page.service": .cameUp(at: 0.5)])
        drill.forget()
        drill.at(1, .unitProblems([:], problem: nil))
        return drill
    }

    mutating func forget() { text = "" }

    mutating func at(_ seconds: Double, _ event: DrillEvent) {
        text += "\(TranscriptFormat.seconds(seconds)) \(Self.line(event))\n"
        for effect in machine.handle(event, at: Self.time(seconds)) {
            text += Self.lines(effect).map { "    \($0)\n" }.joined()
        }
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
        seen[try name("web.service")] = UnitStatus(web)
        seen[try name("page.service")] = UnitStatus(isClosed ? .active : .inactive)
        seen[try name("killswitch-open@shop.target")] = UnitStatus(
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
        for (text, snapshot) in units { snapshots[try name(text)] = snapshot }
        at(seconds, .read(snapshots, problem: problem))
    }

    /// The pause of the closing is over, the order is in force, and everything stands like this.
    mutating func lookAgain(_ seconds: Double, _ place: Place) throws {
        at(seconds, .woke)
        at(seconds, .standing(.ordered))
        try list(seconds, place)
    }

    /// While the gate opens, everything stands like this.
    mutating func look(_ seconds: Double, _ place: Place) throws {
        try list(seconds, place)
        at(seconds, .standing(.open))
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
    mutating func end(_ seconds: Double, web: UnitSnapshot, _ standing: DrillStanding) throws {
        try read(
            seconds,
            [
                "web.service": web, "page.service": .wentDown(at: 1.2, leftAt: 0.5),
                "killswitch-open@shop.target": .cameUp(at: 1.1),
            ])
        at(seconds, .unitProblems([:], problem: nil))
        at(seconds, .standing(standing))
    }

    private static func time(_ seconds: Double) -> DrillTime {
        let microseconds = Int64(seconds * 1_000_000)
        return DrillTime(
            boot: Boottime(microseconds: 1_000_000_000 + microseconds),
            uptime: Uptime(microseconds: 100_000_000 + microseconds))
    }

    private static func line(_ event: DrillEvent) -> String {
        switch event {
        case .started: "started"
        case .ordered: "ordered"
        case .standing(let standing): "standing: \(words(standing))"
        case .standingUnknown(let problem): "standing unknown: \(problem)"
        case .listed(let seen):
            "listed "
                + seen.filter { GateTarget($0.key) == nil }.sorted { $0.key < $1.key }
                .map { "\($0.key)=\($0.value.active.rawValue)" }.joined(separator: " ")
        case .read(let snapshots, let problem):
            "read \(snapshots.keys.sorted().map(\.text).joined(separator: " "))"
                + (problem.map { ", then: \($0)" } ?? "")
        case .tried(let start): "tried: \(start)"
        case .unitProblems(let problems, let problem):
            if let problem {
                "unit problems: \(problem)"
            } else if problems.isEmpty {
                "no unit problems"
            } else {
                "unit problems: "
                    + problems.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
                    .joined(separator: ", ")
            }
        case .released(let standing): "released: \(words(standing))"
        case .daemonUnreachable: "the daemon does not answer"
        case .woke: "woke"
        case .interrupted: "interrupted"
        case .gateStuck(let problem, _): "the gate is stuck: \(problem)"
        case .failed(let problem): "failed: \(problem)"
        }
    }

    private static func words(_ standing: DrillStanding) -> String {
        switch standing {
        case .ordered: "ordered"
        case .open: "open"
        case .kept: "kept"
        case .forced(let words): "forced: \(words)"
        case .closed(let cause): "closed: \(cause)"
        }
    }

    private static func lines(_ effect: DrillEffect) -> [String] {
        switch effect {
        case .order: ["order"]
        case .readStanding: ["read standing"]
        case .list: ["list"]
        case .read(let units): ["read \(units.map(\.text).joined(separator: " "))"]
        case .tryStart(let unit, let limit): ["try to start \(unit) within \(shown(limit))"]
        case .readUnitProblems: ["read unit problems"]
        case .release: ["release"]
        case .wait(let time): ["wait \(shown(time))"]
        case .tell(let line): ["tell \(line)"]
        case .finish(let findings): lines(findings)
        }
    }

    private static func lines(_ findings: DrillFindings) -> [String] {
        let words = [
            "finish: \(findings.isOpen ? "open" : "closed")",
            findings.closedFor.map { "closed for \(shown($0))" },
            findings.isInterrupted ? "interrupted" : nil, findings.problem,
        ]
        return [words.compactMap(\.self).joined(separator: ", ")]
            + findings.outcomes.map { outcome in
                let failures = outcome.failures.map {
                    $0.sentence(of: outcome.unit.name, in: findings.service)
                }
                return
                    ([
                        "\(outcome.unit.name): stop \(outcome.stop.map(shown) ?? "-")",
                        outcome.isRefused.map { $0 ? "refused" : "accepted" } ?? "-",
                        "start \(outcome.start.map(shown) ?? "-")",
                    ] + failures).joined(separator: ", ")
            }
    }

    private static func shown(_ time: Duration) -> String { "\(time.microseconds / 1000) ms" }
}

extension UnitSnapshot {
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
