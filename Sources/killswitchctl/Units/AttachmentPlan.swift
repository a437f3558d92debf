import CivilTime
import Decision
import EventLoop
import Gates
import Storage
import SystemdUnits

/// The units to attach: the named ones, their triggers, what they trigger, and on request what requires them.
struct AttachmentPlan {
    /// One unit of the plan.
    struct Part: Hashable {
        let unit: UnitDescription
        let isStarted: Bool
        /// Why it is attached; nil if it was named.
        let cause: Cause?
        /// The triggers that start it instead of the gate.
        let triggers: [UnitName]
    }

    /// Why a unit is attached that was not named.
    enum Cause: Hashable {
        case triggers(UnitName)
        case triggeredBy(UnitName)
        case requires(UnitName)

        var clause: String {
            switch self {
            case .triggers(let unit): "it triggers \(unit)"
            case .triggeredBy(let unit): "it is triggered by \(unit)"
            case .requires(let unit): "it requires \(unit)"
            }
        }
    }

    private(set) var parts: [Part] = []
    /// Units that stop with an attached unit, and do not start again with it.
    private(set) var dependents: [(unit: UnitName, on: UnitName)] = []
    /// The triggers of the units that nobody uses here: they are attached once somebody does.
    private(set) var idleTriggers: Set<UnitName> = []
    private let rules: Rules
    private let describe: (UnitName) throws -> UnitDescription

    /// What is attached beside the named units, and whether it is refused.
    struct Rules {
        /// Whether the units that require them are attached too.
        var withDependents = false
        /// Whether the gate starts oneshot services.
        var runsAtOpen = false
        /// Whether units that the host may need are attached.
        var isForced = false
        /// The units that are attached to the service already: a trigger among them is down because of the gate.
        var attached: Set<UnitName> = []
    }

    /// Plans units by these rules; `describe` asks systemd about a unit. Throws for one that must not be attached.
    init(
        _ units: [UnitName], _ rules: Rules,
        describe: @escaping (UnitName) throws -> UnitDescription
    ) throws {
        self.rules = rules
        self.describe = describe
        for unit in units { try add(unit) }
        dependents.removeAll { dependent in parts.contains { $0.unit.name == dependent.unit } }
    }

    /// `isTriggered`: another unit triggers this one, so that the gate does not start it.
    private mutating func add(
        _ name: UnitName, because cause: Cause? = nil, isTriggered: Bool = false
    ) throws {
        let unit = try describe(name)
        guard !parts.contains(where: { $0.unit.name == unit.name }) else { return }
        try check(unit)
        let all = try unit.triggeredBy.map(describe)
        let attached = rules.attached
        let isInUse = { (trigger: UnitDescription) in
            trigger.isTriggerInUse || attached.contains(trigger.name)
        }
        let triggers = all.filter(isInUse)
        idleTriggers.formUnion(all.filter { !isInUse($0) }.map(\.name))
        let isOneshot = unit.isJob
        let isStarted =
            triggers.isEmpty && !isOneshot && !isTriggered || rules.runsAtOpen && isOneshot
        parts.append(
            Part(unit: unit, isStarted: isStarted, cause: cause, triggers: triggers.map(\.name)))
        for trigger in triggers { try add(trigger.name, because: .triggers(unit.name)) }
        for triggered in unit.triggers where GateTarget(triggered) == nil {
            try add(triggered, because: .triggeredBy(unit.name), isTriggered: true)
        }
        for dependent in unit.requiredBy where dependent.type != "target" {
            if rules.withDependents {
                try add(dependent, because: .requires(unit.name))
            } else if !dependents.contains(where: { $0.unit == dependent }) {
                dependents.append((dependent, unit.name))
            }
        }
    }

    private func check(_ unit: UnitDescription) throws {
        switch unit.load {
        case "loaded": break
        case "not-found": throw CommandFailure("there is no unit '\(unit.name)'")
        default: throw CommandFailure("unit '\(unit.name)' cannot be used: \(unit.load)")
        }
        guard ["service", "socket", "timer", "path"].contains(unit.name.type) else {
            throw CommandFailure(
                "unit '\(unit.name)' is a \(unit.name.type); services, sockets, timers and "
                    + "path units can be attached")
        }
        if !rules.isForced, let reason = ProtectedUnit.reason(unit.name) {
            throw CommandFailure(
                "unit '\(unit.name)' not attached: \(reason); --force attaches it anyway")
        }
        if let target = unit.earlyTarget {
            throw CommandFailure(
                "unit '\(unit.name)' cannot be attached: '\(target)' waits for it at boot, and comes before the first "
                    + "decision; attach a unit that starts later")
        }
    }

    /// Waits until the daemon has stopped the units that run behind a closed gate; a line for each.
    func stops(
        at target: GateTarget, _ published: PublishedFiles, _ manager: BlockingSystemdClient,
        on loop: EventLoop
    ) throws -> [String] {
        let decision = Result { try published.state(of: target.service) }
        guard target.kind == .open, case .success(let state?) = decision, state.gate == .closed
        else { return [] }
        var running = parts.map(\.unit).filter { !$0.active.isDown }.map(\.name)
        var lines: [String] = []
        let deadline = loop.now.boot + .seconds(10)
        let gate = "the gate of '\(target.service)' is closed (\(state.summary))"
        while !running.isEmpty, loop.now.boot < deadline {
            for unit in running where try manager.describe(unit).active.isDown {
                lines.append("stopped \(unit): \(gate)")
                running.removeAll { $0 == unit }
            }
            if !running.isEmpty { try loop.runOnce(.milliseconds(100)) }
        }
        return try lines
            + running.map { unit in
                try manager.describe(unit).active == .deactivating
                    ? "\(unit) is stopping: \(gate)"
                    : "\(unit) still runs, and \(gate); is killswitchd running?"
            }
    }
}

extension AttachmentPlan.Part {
    /// Whether the list names it, and not another unit that brings it along.
    var isListed: Bool {
        switch cause {
        case nil, .requires: true
        case .triggers, .triggeredBy: false
        }
    }

    /// What the gate does with the unit beside stopping it, as a clause.
    func treatment(by target: GateTarget) -> String {
        if isStarted { return target.kind == .open ? "starts when it opens" : "starts with it" }
        if !triggers.isEmpty {
            return
                "started by \(triggers.map(\.text).joined(separator: ", ")), which starts when it opens"
        }
        if case .triggeredBy(let trigger) = cause { return "started by \(trigger)" }
        return "not started, because it is a oneshot service: --run-at-open runs it at each opening"
    }
}

extension UnitDescription {
    /// Whether it may start the units that it triggers. One that has failed may do so again when somebody starts it.
    fileprivate var isTriggerInUse: Bool { isInUse || active == .failed }

    /// The target of the early boot that waits for it, so that it cannot wait for the first decision; nil if none does.
    /// The drop-in takes sockets and path units out of the order before their own target.
    fileprivate var earlyTarget: UnitName? {
        let own = ["socket": "sockets.target", "path": "paths.target"][String(name.type)]
        return before.first { target in
            target.text != own
                && ["sysinit.target", "basic.target", "sockets.target", "paths.target"].contains(
                    target.text)
        }
    }
}

extension UnitName {
    /// That it requires another unit, and does not start with that.
    func stopsWith(_ other: UnitName) -> String {
        "'\(self)' requires '\(other)': systemd stops '\(self)' with '\(other)' but does not start it again"
    }
}

extension UnitDescription {
    /// That its processes may run on; nil if systemd ends them.
    var warning: String? {
        guard ["process", "none"].contains(killMode) else { return nil }
        return
            "'\(name)' has KillMode=\(killMode): processes that it leaves behind run on behind the closed "
            + "gate, and it does not count as down until they have ended; KillMode=mixed ends them"
    }
}

/// Units that are not attached by default: without them nobody could open the gate again.
enum ProtectedUnit {
    /// Why attaching a unit needs `--force`; nil if it does not.
    static func reason(_ unit: UnitName) -> String? {
        let stem = String(unit.text.prefix { $0 != "@" && $0 != "." })
        if stem.hasPrefix("killswitch") { return "it belongs to killswitchd itself" }
        if stem.hasPrefix("systemd-") || ["user", "init"].contains(stem) {
            return "it belongs to systemd"
        }
        if needed.contains(stem) { return "killswitchd needs it to open the gate again" }
        if access.contains(stem) { return "it is a way to log in to this host" }
        return nil
    }

    private static let needed: Set<String> = [
        "dbus", "dbus-broker", "polkit", "polkitd", "NetworkManager", "networking", "connman",
        "ifup", "wpa_supplicant",
    ]
    private static let access: Set<String> = [
        "ssh", "sshd", "dropbear", "getty", "serial-getty", "console-getty", "container-getty",
        "rescue", "emergency", "tailscaled", "wg-quick",
    ]
}
