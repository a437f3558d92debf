import CivilTime
import Decision
import EventLoop
import JSON
import Records

/// Follows gates to what was decided, unit by unit, by the daemon's files.
final class GateFollowing {
    private let published: PublishedFiles
    private let loop: EventLoop
    private let began: Boottime
    /// Whether to print the units and the progress.
    private let isTold: Bool
    /// The services whose gates are not there yet.
    private var awaited: [ServiceName]
    private var told: Set<String> = []
    private var problems: [String] = []
    private var files: [PathWatch] = []

    /// Follows the gates of these services.
    init(_ services: [ServiceName], in published: PublishedFiles, isTold: Bool) throws {
        self.published = published
        self.isTold = isTold
        awaited = services
        loop = try EventLoop()
        began = loop.now.boot
        files = services.flatMap { service in
            [FileName.state, FileName.gate, FileName.units].map { name in
                PathWatch(loop, path: "\(published.directory)/\(service)/\(name)") {}
            }
        }
    }

    /// Waits until each gate is as decided, or cannot be moved, or a unit has passed its limit. Returns the
    /// problems, a line each.
    func run() throws -> [String] {
        defer { Terminal.showProgress(nil) }
        while true {
            try awaited.removeAll(where: look)
            if awaited.isEmpty { return problems }
            if isTold { Terminal.showProgress(progress) }
            // Each second on a terminal, for the progress. Also without a watch that the kernel has left.
            let isPolling = Terminal.showsProgress || files.contains { $0.problem != nil }
            try loop.runOnce(.seconds(isPolling ? 1 : 3600))
        }
    }

    /// Looks at a service; returns whether there is nothing more to wait for.
    private func look(_ service: ServiceName) throws -> Bool {
        guard let state = try published.state(of: service), let gate = state.gate else {
            return true
        }
        let shown = ShownGate(gate, published.gate(of: service), at: loop.now.wall)
        guard let report = shown.published, report.wanted == gate else { return false }
        guard let actual = report.actual else {
            problems.append(
                "\(service): nothing moves its gate: killswitchd was started without --gates")
            return true
        }
        try tellUnits(of: service, gate)
        guard report.unitProblems.isEmpty, !report.isStuck(on: gate) else {
            problems += report.unitProblems.map { "\(service): \($0)" }
            if report.unitProblems.isEmpty { problems.append("\(service): \(shown.problem ?? "")") }
            return true
        }
        guard actual.rawValue == gate.rawValue else { return false }
        try tell("\(service): its gate is \(shown.words ?? actual.rawValue)")
        return true
    }

    private func tellUnits(of service: ServiceName, _ gate: Gate) throws {
        for unit in try published.units(of: service) where unit.isAsWanted {
            guard unit["wanted"]?.bool == (gate == .open) else { continue }
            let time = unit["took_ms"]?.number.map { " after \($0.literal) ms" } ?? ""
            let line = "\(service): \(unit.text("name")) is \(gate == .open ? "up" : "down")\(time)"
            if told.insert("\(service)/\(unit.text("name"))").inserted { try tell(line) }
        }
    }

    private func tell(_ line: String) throws {
        guard isTold else { return }
        Terminal.showProgress(nil)
        say(line)
        try flushOutput()
    }

    private var progress: String {
        let gates = awaited.prefix(Self.shown).map { service in
            let gate = published.gate(of: service)
            return "\(service) \(ShownGate(gate?.wanted, gate, at: loop.now.wall).word)"
        }
        let more = awaited.count > gates.count ? ["\(awaited.count - gates.count) more"] : []
        let time = (loop.now.boot - began).wholeSeconds
        return "waiting \(time) s: " + (gates + more).joined(separator: ", ")
    }

    private static let shown = 3
}
