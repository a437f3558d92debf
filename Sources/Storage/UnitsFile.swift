package import CivilTime
package import Decision
package import Files
package import Gates
import JSON

extension RuntimeDirectory {
    /// Writes `units.json`: the units that are attached to a service, and whether each is as its gate requires. `now`
    /// is one moment by both clocks.
    package func publish(
        _ units: [UnitRow], of service: Service, now: (wall: Instant, boot: Boottime)
    ) throws(FileError) {
        let rows = JSON.Value.array(units.map { $0.json(in: service.zone, now) })
        let bytes = Array((rows.serialized(.pretty) + "\n").utf8)
        try replace((FileName.units, bytes, nil), in: "\(path)/\(service.name)")
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
            "held_by": .array(keepers.map { .string($0.text) }),
            "processes": .optional(processes.map { Int64($0) }),
            "as_wanted": isAsWanted.map { .bool($0) } ?? .null,
            "refused_starts": .number(Number(Int64(refusedStarts))),
            "refused_at": .optional(refusedAt.map(time)),
        ])
    }
}
