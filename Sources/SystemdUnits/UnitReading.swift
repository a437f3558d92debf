import Decision
import Gates
import Systemd

/// Reads what the gates have to know of a unit, by several small calls.
///
/// One `GetAll` would do, and is expensive: for `UnitFileState` systemd looks at every link in its folders, whose
/// number grows with the attached units, and for `NeedDaemonReload` at every drop-in. The first such call for
/// each of 300 units after a reload took 22 s of systemd's time.
///
/// systemd answers the calls one by one. So the status is asked for first and last: if it has changed in
/// between, the unit is read again.
final class UnitReading {
    private let unit: UnitName
    private let send: (Call, @escaping (Result<Message, BusError>) -> Void) -> Void
    private let completion: (UnitSnapshot?) -> Void
    private var properties = UnitProperties()
    /// The answer to the first call.
    private var status: UnitStatus?
    private var attempts = 0

    /// The largest number of calls at a time.
    static let calls = 9
    /// A unit that changes all the time is as it was seen last: the next signal is not far.
    private static let mostAttempts = 3

    /// Reads a unit with calls that `send` sends. `completion` is called with what was read, nil if systemd does
    /// not tell; never, if the connection is lost.
    init(
        _ unit: UnitName,
        send: @escaping (Call, @escaping (Result<Message, BusError>) -> Void) -> Void,
        completion: @escaping (UnitSnapshot?) -> Void
    ) {
        self.unit = unit
        self.send = send
        self.completion = completion
    }

    /// Sends the calls.
    func start() {
        attempts += 1
        properties = UnitProperties()
        readStatus { self.status = $0 }
        for (interface, names) in details {
            for name in names {
                send(.property(name, of: unit, interface)) { result in
                    // A property that cannot be read stays unknown.
                    _ = result.message?.content { try self.properties.read(name, from: $0) }
                }
            }
        }
        readStatus { self.finish($0) }
    }

    /// Asks for the status. systemd loads the unit for that if it is not loaded yet.
    private func readStatus(_ answer: @escaping (UnitStatus?) -> Void) {
        let (unit, names) = (unit, [Call.Argument.texts([unit.text])])
        send(.manager("list unit '\(unit)'", "ListUnitsByNames", names)) { result in
            answer(result.message?.content { try $0.loadedUnits() }?[unit])
        }
    }

    private func finish(_ last: UnitStatus?) {
        guard let last else { return completion(nil) }
        if last != status, attempts < Self.mostAttempts { return start() }
        completion(properties.snapshot(last))
    }

    /// The properties beside the status, by their interfaces.
    private var details: [(interface: String, names: [String])] {
        guard GateTarget(unit) == nil else { return [("Unit", ["RequisiteOf", "Wants"])] }
        let unit = ("Unit", ["StateChangeTimestamp", "AssertResult", "AssertTimestampMonotonic"])
        return switch self.unit.type {
        case "service":
            [
                unit,
                ("Service", ["Type", "Result", "TimeoutStopUSec", "TimeoutStartUSec", "KillMode"]),
            ]
        case "socket": [unit, ("Socket", ["Result", "TimeoutUSec"])]
        case "timer": [unit, ("Timer", ["Result"])]
        case "path": [unit, ("Path", ["Result"])]
        default: [unit]
        }
    }
}

extension Result<Message, BusError> {
    /// The answer; nil if the call has failed.
    var message: Message? {
        if case .success(let message) = self { message } else { nil }
    }
}
