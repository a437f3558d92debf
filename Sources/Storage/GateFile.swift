package import CivilTime
package import Decision
package import Files
package import Gates
package import JSON

/// `gate.json`: what the gate of a service is in fact, as killswitchd(8) describes it. An absent fact is null.
package enum GateFile {
    /// The object in the file. `now` is one moment by both clocks, to tell times of the boot clock.
    package static func json(
        of report: GateStatus, in zone: Zone, now: (wall: Instant, boot: Boottime)
    ) -> JSON.Object {
        let time = { (moment: Boottime) in zone.rfc3339(now.wall + (moment - now.boot)) }
        let since: String? =
            switch report.since {
            case .published(let instant): zone.rfc3339(instant)
            case .seen(let moment): time(moment)
            case nil: nil
            }
        return [
            "wanted": .string(report.wanted.rawValue),
            "actual": .optional(report.actual?.rawValue),
            "since": .optional(since),
            "problem": .optional(report.problem?.sentence),
            "advice": .optional(report.problem?.advice),
            "next_try": .optional(report.nextTry.map(time)),
            "drains_until": .optional(report.drainsUntil.map(time)),
            "enforced": .bool(report.isEnforced),
            "units": report.actual == nil ? .null : .object(units(report.units, as: report.wanted)),
        ]
    }

    private static func units(_ units: UnitCount, as wanted: Gate) -> JSON.Object {
        let arrived = JSON.Value.number(Number(Int64(units.arrived)))
        return [
            "down": wanted == .closed ? arrived : .null,
            "up": wanted == .open ? arrived : .null,
            "of": .number(Number(Int64(units.total))),
            "problems": .strings(
                units.problems.sorted { $0.key < $1.key }
                    .map { "unit '\($0.key)': \($0.value.sentence)" }),
            "held": .objects(
                units.kept.sorted { $0.key < $1.key }
                    .map { ["name": .string($0.key.text), "by": .strings($0.value.map(\.text))] }),
        ]
    }
}

extension RuntimeDirectory {
    /// Writes what root's mover is to do with the targets of a service. A closing that cannot be written removes the
    /// file: the marker `closed` alone stands for it then. Before any other the file stays, and is tried again.
    package func publish(_ orders: TargetOrders, of service: ServiceName) throws(FileError) {
        let (bytes, folder) = (Array(orders.text.utf8), "\(path)/\(service)")
        if orders.isClosing { return try replaceOrRemove(TargetOrders.fileName, bytes, in: folder) }
        try replace((TargetOrders.fileName, bytes, nil), in: folder)
    }

    /// Writes what the gate of a service is in fact. A file that says the same already stays as it is; one that cannot
    /// be replaced is removed, since it would say of an opened gate that it is closed.
    package func publish(
        _ report: GateStatus, of service: Service, now: (wall: Instant, boot: Boottime)
    ) throws(FileError) {
        let folder = "\(path)/\(service.name)"
        let object = GateFile.json(of: report, in: service.zone, now: now)
        let bytes = Array((JSON.Value.object(object).serialized(.pretty) + "\n").utf8)
        try replaceOrRemove(FileName.gate, bytes, in: folder, isOftenSame: true)
    }

    /// Writes `units.json`: the units that are attached to a service, and whether each is as its gate requires. `now`
    /// is one moment by both clocks. A file that cannot be replaced is removed.
    package func publish(
        _ units: [UnitRow], of service: Service, now: (wall: Instant, boot: Boottime)
    ) throws(FileError) {
        let rows = JSON.Value.array(units.map { $0.json(in: service.zone, now) })
        let bytes = Array((rows.serialized(.pretty) + "\n").utf8)
        try replaceOrRemove(FileName.units, bytes, in: "\(path)/\(service.name)")
    }

    private func replaceOrRemove(
        _ name: String, _ bytes: [UInt8], in folder: String, isOftenSame: Bool = false
    ) throws(FileError) {
        do {
            try replace((name, bytes, nil), in: folder, isOftenSame: isOftenSame)
        } catch {
            do { try remove("\(folder)/\(name)") } catch {}
            throw error
        }
    }
}

extension UnitRow {
    /// The unit as `units.json` has it, with times in this zone. As in `state.json`, an absent fact is null.
    fileprivate func json(in zone: Zone, _ now: (wall: Instant, boot: Boottime)) -> JSON.Value {
        let time = { (moment: Boottime) in zone.rfc3339(now.wall + (moment - now.boot)) }
        return .object([
            "name": .string(name.text),
            "wanted": isWanted.map { .bool($0) } ?? .null,
            "active": .optional(seen?.active.rawValue),
            "since": .optional(seen?.since.map { zone.rfc3339($0) }),
            "took_ms": .optional(took.map { $0.microseconds / 1000 }),
            "problem": .optional(problem),
            "attached": .bool(isAttached),
            "held_by": .strings(keepers.map(\.text)),
            "processes": .optional(processes.map { Int64($0) }),
            "as_wanted": isAsWanted.map { .bool($0) } ?? .null,
            "refused_starts": .number(Number(Int64(refusedStarts))),
            "refused_at": .optional(refusedAt.map(time)),
        ])
    }
}

/// The content of a `gate.json`, for readers.
package struct PublishedGate: Sendable {
    /// The whole object, in the order of its members.
    package let object: JSON.Object
    /// The gate that the daemon moves to.
    package let wanted: Gate
    /// What the gate is; nil if nobody moves it.
    package let actual: GateStatus.Actual?
    /// Why it is not as wanted, as a clause; nil without a problem.
    package let problem: String?
    /// When the move is tried again; nil if it is not.
    package let nextTry: Instant?
    /// When its units stop that run on for a while; nil without a drain.
    package let drainsUntil: Instant?
    /// False if the service is only observed: nothing is closed, whatever was decided.
    package let isEnforced: Bool
    /// How many of its units are as wanted.
    package let arrived: Int64
    /// How many units it stops, or starts.
    package let total: Int64
    /// The units for which the move has not gone well, a clause each.
    package let unitProblems: [String]
    /// The units that other services keep down, and these services.
    package let held: [(unit: String, by: [String])]

    /// The gate in such an object; nil if it is none.
    package init?(_ object: JSON.Object) {
        guard let wanted = object["wanted"]?.string.flatMap(Gate.init) else { return nil }
        self.object = object
        self.wanted = wanted
        actual = object["actual"]?.string.flatMap(GateStatus.Actual.init)
        problem = object["problem"]?.string
        nextTry = object.instantIfGood("next_try")
        drainsUntil = object.instantIfGood("drains_until")
        isEnforced = object["enforced"]?.bool ?? true
        let units = object["units"]?.object ?? [:]
        arrived = (units["down"]?.number ?? units["up"]?.number)?.int64 ?? 0
        total = units["of"]?.number?.int64 ?? 0
        unitProblems = units.strings("problems")
        held = units.objects("held").map { unit in
            (unit: unit["name"]?.string ?? "", by: unit.strings("by"))
        }
    }

    /// Reads the file in a service's folder; nil if it is missing or unreadable.
    package static func read(in folder: String) -> PublishedGate? {
        readable {
            let bytes = try File.read(FileName.gate, of: folder, limit: 1 << 20)
            return try JSON.Value.parse(bytes).object.flatMap(PublishedGate.init)
        } ?? nil
    }

    /// Whether the gate is as this verdict wants it, and every unit with it.
    package func isComplete(as gate: Gate) -> Bool {
        guard wanted == gate, arrived == total else { return false }
        return actual == (gate == .open ? .open : .closed)
    }

    /// Whether the move to this gate cannot go on.
    package func isStuck(on gate: Gate) -> Bool { wanted == gate && actual == .stuck }
}

extension JSON.Object {
    /// The time in a member; nil without one that can be read.
    fileprivate func instantIfGood(_ key: String) -> Instant? {
        readable { try instant(key) }
    }
}
