package import CivilTime
package import Decision
package import Files
package import Gates
import JSON

/// `units.json`: the units that are attached to a service, and whether each is as its gate requires. As
/// in `state.json`, an absent fact is null.
enum UnitsFile {
    /// The text of the file, with times in this zone. `now` is one moment by both clocks.
    static func text(
        of rows: [UnitRow], in zone: Zone, now: (wall: Instant, boot: Boottime)
    ) -> String {
        JSON.Value.array(rows.map { json(of: $0, in: zone, now) }).serialized(.pretty) + "\n"
    }

    private static func json(
        of row: UnitRow, in zone: Zone, _ now: (wall: Instant, boot: Boottime)
    ) -> JSON.Value {
        let time = { (moment: Boottime) in zone.rfc3339(now.wall + (moment - now.boot)) }
        return .object([
            "name": .string(row.name.text),
            "wanted": row.isWanted.map { .bool($0) } ?? .null,
            "active": .optional(row.seen?.active.rawValue),
            "since": .optional(row.seen?.since.map { zone.rfc3339($0) }),
            "took_ms": .optional(row.took.map { $0.microseconds / 1000 }),
            "problem": .optional(row.problem),
            "attached": .bool(row.isAttached),
            "held_by": .array(row.keepers.map { .string($0.text) }),
            "processes": .optional(row.processes.map { Int64($0) }),
            "as_wanted": row.isAsWanted.map { .bool($0) } ?? .null,
            "refused_starts": .number(Number(Int64(row.refusedStarts))),
            "refused_at": .optional(row.refusedAt.map(time)),
        ])
    }
}

extension RuntimeDirectory {
    /// Writes the states of the units that are attached to a service.
    package func publish(
        _ units: [UnitRow], of service: Service, now: (wall: Instant, boot: Boottime)
    ) throws(FileError) {
        let folder = "\(path)/\(service.name)"
        try Directory.create(folder)
        let text = UnitsFile.text(of: units, in: service.zone, now: now)
        try File.replace("\(folder)/\(FileName.units)", with: Array(text.utf8))
    }
}
