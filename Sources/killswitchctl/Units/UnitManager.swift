import Decision
import EventLoop
import Files
import Gates

/// The system's service manager over the bus, for a command: an error ends the command.
struct UnitManager {
    private let manager: SystemManager

    /// Whether systemd runs here, by the test of sd_booted(3). It does not in an image that is being built.
    static var isNeeded: Bool {
        get throws(CommandFailure) {
            try orFail { try File.exists("/run/systemd/system") }
        }
    }

    /// Connects to the bus; uses the command's loop if it has one.
    init(on loop: EventLoop? = nil) throws(CommandFailure) {
        do {
            manager = try SystemManager(
                address: environmentVariable("DBUS_SYSTEM_BUS_ADDRESS"), on: loop)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Describes a unit, as systemd has loaded it.
    func describe(_ unit: UnitName) throws(CommandFailure) -> UnitDescription {
        try ask { () throws(SystemManager.Failure) in try manager.describe(unit) }
    }

    /// Has systemd read its unit files again.
    func reload() throws(CommandFailure) {
        try ask { () throws(SystemManager.Failure) in try manager.reload() }
    }

    /// Everything that a drill needs to know of a unit.
    func snapshot(of unit: UnitName) throws(CommandFailure) -> UnitSnapshot {
        try ask { () throws(SystemManager.Failure) in try manager.snapshot(of: unit) }
    }

    /// Has systemd keep a unit in memory until this process ends.
    func keep(_ unit: UnitName) throws(CommandFailure) {
        try ask { () throws(SystemManager.Failure) in try manager.keep(unit) }
    }

    /// The states of these units.
    func list(_ units: [UnitName]) throws(CommandFailure) -> [UnitName: UnitStatus] {
        try ask { () throws(SystemManager.Failure) in try manager.list(units) }
    }

    /// Starts a unit as by hand, and waits up to `limit` for the result.
    func tryStart(_ unit: UnitName, within limit: Duration) throws(CommandFailure) -> ManualStart {
        try ask { () throws(SystemManager.Failure) in try manager.tryStart(unit, within: limit) }
    }

    /// Starts a unit, and waits up to `limit` for the result of the job; nil if it is still running.
    func start(_ unit: UnitName, within limit: Duration) throws(CommandFailure) -> String? {
        do {
            return try manager.start(unit, within: limit)
        } catch {
            throw error.isOfSystemd ? CommandFailure(.no, "\(error)") : CommandFailure(error)
        }
    }

    private func ask<Answer>(
        _ question: () throws(SystemManager.Failure) -> Answer
    ) throws(CommandFailure) -> Answer {
        do {
            return try question()
        } catch {
            throw CommandFailure(error)
        }
    }
}

extension CommandFailure {
    fileprivate init(_ failure: SystemManager.Failure) {
        self.init(failure.isDenied ? .notPermitted : .unreachable, failure.description)
    }
}
