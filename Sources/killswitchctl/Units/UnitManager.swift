import Decision
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

    init() throws(CommandFailure) {
        do {
            manager = try SystemManager(address: environmentVariable("DBUS_SYSTEM_BUS_ADDRESS"))
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
}

extension CommandFailure {
    fileprivate init(_ failure: SystemManager.Failure) {
        self.init(failure.isDenied ? .notPermitted : .unreachable, failure.description)
    }
}
