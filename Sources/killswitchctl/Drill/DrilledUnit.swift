import CivilTime
import Decision
import Gates
import JSON
import SystemdUnits

/// A unit of a drill: how it stood before, behind the closed gate, and at the end.
struct DrilledUnit {
    /// Its part in the drill.
    enum Kind: Hashable {
        /// It runs while the gate is open, and must be down while it is closed.
        case attached
        /// It is attached to nothing that closes, and stops because it requires this unit.
        case dependent(on: UnitName)
        /// It runs in the state that the drill forces, and only then.
        case state
    }

    /// How it stands at one moment: by systemd, and by its row of `units.json`, which a dependent has not.
    struct Sighting {
        let active: ActiveState
        let row: JSON.Object

        /// Whether the daemon and systemd agree that it is down, with no process left.
        var isDown: Bool { active.isDown && (row.isEmpty || row.isDown) }

        /// Whether they agree that it is not.
        var isUp: Bool { !active.isDown && !row.isDown }

        /// What the daemon says of its stop or start; nil also while it is being attached.
        fileprivate var problem: String? {
            row["attached"]?.bool == false ? nil : row["problem"]?.string?.printable
        }
        fileprivate var took: Duration? {
            row["took_ms"]?.number?.int64.map { .milliseconds($0) }
        }
    }

    let name: UnitName
    let kind: Kind
    let before: UnitSnapshot
    /// Its row before the drill.
    let rowBefore: JSON.Object
    /// Behind the closed gate, just before it opens again; nil if that could not be seen.
    var closed: Sighting?
    var ended: Sighting?
    /// How a start by hand ended behind the closed gate; nil if none was tried.
    var handStart: ManualStart?

    var isDependent: Bool { if case .dependent = kind { true } else { false } }

    /// Whether it was not down before the drill.
    var wasUp: Bool { !before.seen.active.isDown }
}

extension JSON.Object {
    /// Whether a unit of units.json is down, with no process left; false while that is not known.
    var isDown: Bool {
        let active = ActiveState(rawValue: text("active"))
        return active?.isDown ?? false && self["processes"]?.number == nil
    }

    /// Whether it is down behind its closed gate, and it is known how it has stopped. One that is not attached is as no
    /// gate wants it.
    var hasStopped: Bool {
        isDown && (self["as_wanted"]?.bool == true || self["attached"]?.bool == false)
    }
}

/// The units of a drill: the attached ones first, then those that stop with them, then those of the forced state.
struct DrillPlan {
    let service: ServiceName
    let state: State
    var units: [DrilledUnit]

    /// By the attached units of `units.json`, and the drop-ins that say what they are attached to. `describe` asks
    /// systemd about a unit.
    init(
        of service: ServiceName, from stand: DesiredGate, to state: State, rows: [JSON.Object],
        describe: (UnitName) throws -> UnitSnapshot
    ) throws {
        (self.service, self.state) = (service, state)
        let forced = DesiredGate(gate: .closed, state: state, variant: stand.variant)
        let (opened, closed) = (stand.targets(of: service), forced.targets(of: service))
        var rowOf: [UnitName: JSON.Object] = [:]
        for row in rows { if let name = UnitName(row.text("name")) { rowOf[name] = row } }
        // The daemon may not have read yet what was attached a moment ago.
        let attachments = try AttachmentFiles.all().filter { $0.service == service }
        let holders = Dictionary(grouping: attachments, by: \.unit)
        units = try Set(rowOf.keys).union(holders.keys).sorted().compactMap { name in
            let targets = Set((holders[name] ?? []).map(\.target))
            let kind: DrilledUnit.Kind
            switch (targets.isSubset(of: opened), targets.isSubset(of: closed)) {
            case (true, _) where targets.isEmpty: kind = .attached
            case (true, false): kind = .attached
            case (false, true): kind = .state
            case (true, true), (false, false): return nil
            }
            return DrilledUnit(
                name: name, kind: kind, before: try describe(name), rowBefore: rowOf[name] ?? [:])
        }
        let dependents = try Self.dependents(of: attached, beside: units.map(\.name), describe)
        units = attached + dependents + units.filter { $0.kind == .state }
    }

    /// The units that run while the gate is open, and must be down while it is closed.
    var attached: [DrilledUnit] { units.filter { $0.kind == .attached } }

    /// The dependents of these units that are up, and the dependents of those.
    private static func dependents(
        of attached: [DrilledUnit], beside known: [UnitName],
        _ describe: (UnitName) throws -> UnitSnapshot
    ) throws -> [DrilledUnit] {
        var found: [DrilledUnit] = []
        var seen = Set(known)
        var queue = attached.filter(\.wasUp)
        while !queue.isEmpty {
            let unit = queue.removeFirst()
            for name in unit.before.stopsWith.sorted()
            where GateTarget(name) == nil && seen.insert(name).inserted {
                let dependent = DrilledUnit(
                    name: name, kind: .dependent(on: unit.name), before: try describe(name),
                    rowBefore: [:])
                guard dependent.wasUp else { continue }
                found.append(dependent)
                queue.append(dependent)
            }
        }
        return found
    }
}

// MARK: What the drill proves of a unit

extension DrilledUnit {
    /// How long its stop took; nil if it did not stop, or if that is not known.
    var stop: Duration? {
        switch kind {
        case .attached: wasUp && closed?.isDown == true ? closed?.took : nil
        case .dependent: nil
        case .state: ended?.isDown == true ? ended?.took : nil
        }
    }

    /// How long its start took, likewise.
    var start: Duration? {
        switch kind {
        case .attached: ended?.isUp == true ? ended?.took : nil
        case .dependent: nil
        case .state: closed?.isUp == true ? closed?.took : nil
        }
    }

    /// What has failed, a clause each; empty if the drill succeeded for this unit.
    func failures(in drill: DrillReport) -> [String] {
        let failures =
            switch kind {
            case .attached: [stopFailure(drill), handStartFailure(drill), returnFailure(drill)]
            case .dependent(let other): [dependentFailure(on: other, drill)]
            case .state: [absenceFailure(drill), overstayFailure(drill)]
            }
        return failures.compactMap(\.self).reduce(into: []) { all, failure in
            if !all.contains(failure) { all.append(failure) }
        }
    }

    private func stopFailure(_ drill: DrillReport) -> String? {
        guard let closed, wasUp else { return nil }
        if closed.isDown {
            // Such as a stop that systemd had to end.
            let problem = closed.problem
            return problem == rowBefore["problem"]?.string?.printable ? nil : problem
        }
        if drill.isInterrupted { return nil }
        guard closed.active.isDown else { return "still running after \(drill.limit.inSeconds)" }
        return closed.problem ?? "the daemon does not see that it is down"
    }

    private func handStartFailure(_ drill: DrillReport) -> String? {
        let untried = "could not test whether a start by hand is refused: "
        switch handStart {
        case .refused: return nil
        case .accepted: return "a start by hand succeeded although the gate was closed"
        case .unclear(let word): return untried + "the start ended as '\(word)'"
        case nil:
            guard drill.wasAllDown, !drill.isInterrupted else { return nil }
            return untried + "there was no time left to try one"
        }
    }

    /// Why it is not up again. A unit that another service keeps down need not run.
    private func returnFailure(_ drill: DrillReport) -> String? {
        guard let ended, !drill.isInterrupted, !ended.isUp else { return nil }
        if ended.active == .failed { return ended.problem ?? "it has failed" }
        switch ended.row["wanted"]?.bool {
        case true?:
            if ended.row.isAsWanted || !wasUp { return nil }
            return ended.problem ?? "was not started again: it is \(ended.active.rawValue)"
        case false?: return nil
        case nil:
            return wasUp && reasonToRest == nil
                ? "was not started again: the gate does not start it" : nil
        }
    }

    /// Why it stays down, which is no failure; nil if it should run.
    private var reasonToRest: String? {
        if !before.triggeredBy.isEmpty { return "stays stopped until something triggers it" }
        return before.isOneshot ? "was stopped at its work, which is not started again" : nil
    }

    private func dependentFailure(on other: UnitName, _ drill: DrillReport) -> String? {
        guard let ended, ended.active.isDown, !drill.isInterrupted else { return nil }
        return "stopped with \(other) and was not started again"
            + (name.type == "target"
                ? "" : "; attach it too: killswitchctl attach \(drill.service) \(name)")
    }

    private func absenceFailure(_ drill: DrillReport) -> String? {
        guard let closed, drill.wasAllDown, !drill.isInterrupted else { return nil }
        // A unit without a row is one that the daemon does not know yet.
        if closed.row.isEmpty ? !closed.active.isDown : closed.row.isAsWanted { return nil }
        return closed.problem ?? "did not run while the gate was closed"
    }

    private func overstayFailure(_ drill: DrillReport) -> String? {
        guard let ended, !drill.isInterrupted else { return nil }
        if ended.isDown { return ended.problem }
        return ended.problem ?? "still runs although the gate is open again"
    }

    /// What a person should know of it, without a failure.
    var remark: String? {
        if wasUp, closed?.active == .failed {
            return "it has stopped as a failed unit: see 'systemctl status \(name)'"
        }
        guard kind == .attached, let ended else { return nil }
        if !wasUp {
            return ended.active.isDown ? nil : "was stopped before; the opening started it"
        }
        return ended.active.isDown ? ended.problem ?? reasonToRest : nil
    }
}
