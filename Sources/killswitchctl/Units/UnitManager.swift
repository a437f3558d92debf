import Decision
import Gates

/// systemd, asked by a command; what goes wrong ends the command.
struct UnitManager {
    private let manager: SystemManager

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
