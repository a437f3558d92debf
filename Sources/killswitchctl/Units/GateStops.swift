import CivilTime
import Decision
import EventLoop
import Gates
import Storage
import SystemdUnits

/// What becomes of units that run when they are attached to a closed gate: the daemon stops them. The command waits
/// for that, and says what has happened.
struct GateStops {
    private let manager: BlockingSystemdClient
    private let loop: EventLoop
    private let published: PublishedFiles

    /// Asks `manager`, which runs on this loop, for the states of units.
    init(_ manager: BlockingSystemdClient, on loop: EventLoop, _ published: PublishedFiles) {
        self.manager = manager
        self.loop = loop
        self.published = published
    }

    /// A line for each unit of the plan that ran and should not; empty if the gate is open or unknown.
    func lines(of plan: AttachmentPlan, on target: GateTarget) throws -> [String] {
        guard target.kind == .open, let state = try decision(of: target.service),
            state.gate == .closed
        else { return [] }
        var running = plan.parts.map(\.unit).filter { !$0.active.isDown }.map(\.name)
        var lines: [String] = []
        let deadline = loop.now.boot + Self.timeLimit
        let gate = "the gate of '\(target.service)' is closed (\(state.summary))"
        while !running.isEmpty, loop.now.boot < deadline {
            for unit in running where try manager.describe(unit).active.isDown {
                lines.append("stopped \(unit): \(gate)")
                running.removeAll { $0 == unit }
            }
            if !running.isEmpty { try loop.runOnce(.milliseconds(100)) }
        }
        for unit in running {
            lines.append(
                try manager.describe(unit).active == .deactivating
                    ? "\(unit) is stopping: \(gate)"
                    : "\(unit) still runs, and \(gate); is killswitchd running?")
        }
        return lines
    }

    /// The state of a service; nil if none is known.
    private func decision(of service: ServiceName) throws -> PublishedState? {
        do { return try published.state(of: service) } catch { return nil }
    }

    private static let timeLimit: Duration = .seconds(10)
}
