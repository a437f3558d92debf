import Decision
import Gates
import Systemd

/// Reads what the gates have to know of a unit, by several small calls.
///
/// One `GetAll` would do, and is expensive: for `UnitFileState` systemd looks at every link in its folders, whose
/// number grows with the attached units, and for `NeedDaemonReload` at every drop-in. The first such call for
/// each of 300 units after a reload took 22 s of systemd's time.
///
/// systemd answers the calls one by one. So the status of an attached unit is asked for first and last: if it has
/// changed in between, the unit is read again. What is attached to a target does not depend on its status.
extension SystemdClient {
    /// Reads a unit with up to 16 calls an attempt. `completion` is called with what was read, nil if systemd does not
    /// tell; never, if the connection is lost. A unit that changes at each of three attempts is as it was seen last:
    /// the next signal is not far.
    func readProperties(
        of unit: UnitName, attempt: Int = 1, completion: @escaping (UnitSnapshot?) -> Void
    ) {
        var properties = UnitProperties()
        var first: UnitStatus?
        let isTarget = GateTarget(unit) != nil
        if !isTarget { readStatus(of: unit) { first = $0 } }
        for (interface, names) in Self.details(of: unit) {
            for name in names {
                send(.property(name, of: unit, interface)) { result in
                    // A property that cannot be read stays unknown.
                    _ = result.message?.content { try properties.read(name, from: $0) }
                }
            }
        }
        readStatus(of: unit) { [unowned self] last in
            guard let last else { return completion(nil) }
            if !isTarget, last != first, attempt < 3 {
                return readProperties(of: unit, attempt: attempt + 1, completion: completion)
            }
            completion(properties.snapshot(last))
        }
    }

    /// Asks for the status. systemd loads the unit for that if it is not loaded yet.
    private func readStatus(of unit: UnitName, _ answer: @escaping (UnitStatus?) -> Void) {
        let names = [Call.Argument.texts([unit.text])]
        send(.manager("list unit '\(unit)'", "ListUnitsByNames", names)) { result in
            answer(result.message?.content { try $0.loadedUnits() }?[unit])
        }
    }

    /// The properties beside the status, by their interfaces.
    private static func details(of unit: UnitName) -> [(interface: String, names: [String])] {
        guard GateTarget(unit) == nil else {
            return [
                (
                    "Unit",
                    ["ActiveEnterTimestampMonotonic", "RequisiteOf", "PropagatesStopTo", "Wants"]
                )
            ]
        }
        let any = (
            "Unit",
            [
                "StateChangeTimestamp", "InactiveEnterTimestampMonotonic", "AssertResult",
                "AssertTimestampMonotonic",
                "ConditionResult",
                "ConditionTimestampMonotonic", "Asserts", "TriggeredBy",
            ]
        )
        return switch unit.type {
        case "service":
            [
                any,
                (
                    "Service",
                    [
                        "Type", "RemainAfterExit", "Result", "TimeoutStopUSec", "TimeoutStartUSec",
                        "KillMode",
                    ]
                ),
            ]
        case "socket": [any, ("Socket", ["Result", "TimeoutUSec"])]
        case "timer": [any, ("Timer", ["Result"])]
        case "path": [any, ("Path", ["Result"])]
        default: [any]
        }
    }
}

extension Result<Message, BusError> {
    /// The answer; nil if the call has failed.
    var message: Message? { if case .success(let message) = self { message } else { nil } }
}
