import Decision
import EventLoop
import Files
import Gates

/// systemd, asked by a command; what goes wrong ends the command.
struct UnitManager {
    private let manager: SystemManager

    /// Whether there is a systemd here that runs, by the test of sd_booted(3). In an image that is being
    /// made there is none, and nothing to tell it.
    static var isNeeded: Bool {
        get throws(CommandFailure) {
            do {
                return try File.exists("/run/systemd/system")
            } catch {
                throw CommandFailure(.no, "\(error)")
            }
        }
    }

    /// A command that has a loop lends it.
    init(on loop: EventLoop? = nil) throws(CommandFailure) {
        do {
            manager = try SystemManager(
                address: environmentVariable("DBUS_SYSTEM_BUS_ADDRESS"), on: loop)
        } catch {
            throw CommandFailure(error)
        }
    }

    func describe(_ unit: UnitName) throws(CommandFailure) -> UnitDescription {
        do {
            return try manager.describe(unit)
        } catch {
            throw CommandFailure(error)
        }
    }

    func reload() throws(CommandFailure) {
        do {
            try manager.reload()
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Everything that a drill asks of a unit.
    func account(of unit: UnitName) throws(CommandFailure) -> UnitSnapshot {
        do {
            return try manager.account(of: unit)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Has systemd remember what it knows of a unit until this program ends.
    func keep(_ unit: UnitName) throws(CommandFailure) {
        do {
            try manager.keep(unit)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// How these units stand.
    func list(_ units: [UnitName]) throws(CommandFailure) -> [UnitName: UnitStatus] {
        do {
            return try manager.list(units)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Has a unit started as by hand, and waits for what comes of that.
    func tryStart(_ unit: UnitName, within limit: Duration) throws(CommandFailure) -> ManualStart {
        do {
            return try manager.tryStart(unit, within: limit)
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
