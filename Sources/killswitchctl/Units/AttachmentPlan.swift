import Decision
import Gates

/// What is written to attach some units: they themselves, what triggers them, what they trigger, and
/// if asked for what requires them.
struct AttachmentPlan {
    /// One unit, and whether the gate starts it.
    struct Part: Hashable {
        let unit: UnitDescription
        let isStarted: Bool
        /// Why it is among them, where nobody named it.
        let cause: String?
    }

    /// What is asked for beside the units.
    struct Wishes {
        var runsAtOpen = false
        var withDependents = false
        var isForced = false
    }

    private(set) var parts: [Part] = []
    /// What stops with an attached unit and will not come back with it.
    private(set) var dependents: [(unit: UnitName, on: UnitName)] = []
    private let wishes: Wishes
    private let describe: (UnitName) throws -> UnitDescription

    /// `describe` asks systemd. Throws where a unit is refused.
    init(
        _ units: [UnitName], _ wishes: Wishes,
        describe: @escaping (UnitName) throws -> UnitDescription
    ) throws {
        self.wishes = wishes
        self.describe = describe
        for unit in units { try add(unit, because: nil) }
        dependents.removeAll { dependent in parts.contains { $0.unit.name == dependent.unit } }
    }

    private mutating func add(_ name: UnitName, because cause: String?) throws {
        let unit = try describe(name)
        guard !parts.contains(where: { $0.unit.name == unit.name }) else { return }
        try check(unit)
        let triggers = try unit.triggeredBy.map(describe).filter(\.isInUse)
        let isOneshot = unit.type == "oneshot"
        let isStarted =
            triggers.isEmpty && !isOneshot && !isTriggered(cause) || wishes.runsAtOpen && isOneshot
        parts.append(Part(unit: unit, isStarted: isStarted, cause: cause))
        for trigger in triggers {
            try add(trigger.name, because: "it triggers \(unit.name)")
        }
        for triggered in unit.triggers where GateTarget(triggered) == nil {
            try add(triggered, because: Self.triggered + unit.name.text)
        }
        for dependent in unit.requiredBy where dependent.type != "target" {
            if wishes.withDependents {
                try add(dependent, because: "it requires \(unit.name)")
            } else if !dependents.contains(where: { $0.unit == dependent }) {
                dependents.append((dependent, unit.name))
            }
        }
    }

    private static let triggered = "it is triggered by "

    /// What another unit starts when its time comes is not started by the gate.
    private func isTriggered(_ cause: String?) -> Bool {
        cause?.hasPrefix(Self.triggered) ?? false
    }

    private func check(_ unit: UnitDescription) throws {
        switch unit.load {
        case "loaded": break
        case "not-found": throw CommandFailure(.no, "there is no unit '\(unit.name)'")
        default: throw CommandFailure(.no, "unit '\(unit.name)' cannot be used: \(unit.load)")
        }
        guard ["service", "socket", "timer", "path"].contains(unit.name.type) else {
            throw CommandFailure(
                .no,
                "unit '\(unit.name)' is a \(unit.name.type); services, sockets, timers and "
                    + "path units can be attached")
        }
        if !wishes.isForced, let reason = ProtectedUnit.reason(unit.name) {
            throw CommandFailure(
                .no, "unit '\(unit.name)' is not attached: \(reason); --force does it nevertheless")
        }
    }
}
