import CivilTime
import Decision
import EventLoop
import JSON
import Storage

/// `status --check`: whether everything is as wanted, for monitoring.
struct HealthCheck {
    private let published: PublishedFiles
    private let services: [ServiceName]

    /// A check of these services; of all of them if the list is empty.
    init(of published: PublishedFiles, about services: [ServiceName]) {
        self.published = published
        self.services = services
    }

    /// Prints a line for each thing that is not as wanted, and throws if there is any.
    func run(json: Bool) throws {
        let names = try published.servicesIfAny()
        let known = Set(names)
        for service in services
        where !known.isEmpty && !known.contains(service) && OrphanedService(service) == nil {
            throw published.unknown(service, among: names)
        }
        let alarms = try alarms()
        if json {
            printJSON(.array(alarms.map { .object($0.object) }))
        } else {
            for alarm in alarms { printLine(alarm.line(at: published.now)) }
        }
        if !alarms.isEmpty { throw CommandFailure(.no) }
    }

    private func alarms() throws -> [ProblemLine] {
        let loop = try EventLoop()
        let deadline = loop.now.boot + Self.restart
        var daemon = DaemonReport(of: published, about: services)
        // A daemon that is being restarted is there again soon.
        while daemon.isGone, loop.now.boot < deadline {
            try loop.runOnce(.milliseconds(200))
            daemon = DaemonReport(of: published, about: services)
        }
        var alarms = daemon.problems.filter(\.isAlarm)
        if let absence = daemon.absence, !alarms.contains(where: { $0.kind == .noDaemon }) {
            // No daemon has run here since the boot, so that there is no sign of life.
            let text = "killswitchd does not run: \(absence)"
            alarms.insert(ProblemLine(.host, .noDaemon, text), at: 0)
        }
        let names = services.isEmpty ? try published.servicesIfAny() : services
        return alarms + names.compactMap(stateProblem)
    }

    /// That the state of a service cannot be read.
    private func stateProblem(of service: ServiceName) -> ProblemLine? {
        do {
            _ = try published.state(of: service)
            return nil
        } catch {
            return ProblemLine(.service(service), .unreadableState, "\(error)")
        }
    }

    /// How long a restart of the daemon may take.
    private static let restart: Duration = .seconds(5)
}
