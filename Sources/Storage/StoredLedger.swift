import CivilTime
import Decision
import JSON

/// The stored ledger of states: an entry for each service.
enum StoredLedger {
    static func bytes(of ledger: Ledger) -> [UInt8] {
        var others = JSON.Object()
        if ledger.hasOrders { others["orders"] = true }
        return StoredForm.bytes(byService: ledger.entries, and: others, json)
    }

    private static func json(_ entry: Ledger.Entry) -> JSON.Object {
        var stored: JSON.Object = [
            "state": .string(entry.state.rawValue),
            "since": .string(Zone.utc.rfc3339(entry.since)),
            "generation": .number(Number(Int64(entry.generation))),
            "boot_id": .string(entry.bootID),
        ]
        if entry.isHeld { stored["held"] = true }
        if entry.isObserved { stored["observed"] = true }
        if let closing = entry.closing {
            stored["closing"] = .object([
                "cause": .number(Number(closing.cause.microseconds)),
                "at": .number(Number(closing.at.microseconds)),
            ])
        }
        if let times = entry.announced { stored["announced"] = json(times) }
        if let leads = entry.published { stored["told"] = json(leads) }
        // By the boot clock: no step of the wall clock moves them.
        if let turn = entry.turn { stored["opens_at"] = .number(Number(turn.microseconds)) }
        if let end = entry.drainsUntil {
            stored["drains_until"] = .number(Number(end.microseconds))
        }
        if let passed = entry.passed { stored["passed"] = .object(json(passed)) }
        if let drill = entry.drill { stored["drill"] = json(drill) }
        if let state = entry.announcedState { stored["announced_state"] = .string(state.rawValue) }
        if let order = entry.order {
            stored["order"] = .object([
                "until": .string(StoredOverrides.end(order.until)),
                "flags": .optional(order.unforced?.rawValue),
            ])
        }
        return stored
    }

    static func ledger(in stored: JSON.Object) throws -> Ledger {
        Ledger(
            entries: try StoredForm.byService(stored, entry), hasOrders: try stored.flag("orders"))
    }

    private static func entry(_ object: JSON.Object) throws -> Ledger.Entry {
        var entry = Ledger.Entry(
            state: try object.state(), since: try object.instant("since"),
            generation: Int(try object.generation()), bootID: try object.string("boot_id"),
            isHeld: try object.flag("held"))
        entry.isObserved = try object.flag("observed")
        if let closing = object["closing"]?.object {
            entry.closing = Closing(
                cause: try closing.boottime("cause"), at: try closing.boottime("at"))
        }
        if object["announced"] != nil { entry.announced = try announced(object) }
        if object["told"] != nil { entry.published = try published(object) }
        if object["opens_at"] != nil { entry.turn = try object.boottime("opens_at") }
        if object["drains_until"] != nil { entry.drainsUntil = try object.boottime("drains_until") }
        if object["passed"] != nil { entry.passed = try passed(object) }
        entry.announcedState = object["announced_state"]?.string.flatMap(State.init)
        entry.drill = try object["drill"]?.object.map(drill)
        if let order = object["order"] { entry.order = try self.order(order.asObject()) }
        return entry
    }

    /// In microseconds: an end that is read as an earlier time would come again.
    private static func json(_ passed: [SourceName: Instant]) -> JSON.Object {
        passed.sorted { $0.key < $1.key }.reduce(into: JSON.Object()) {
            $0[$1.key.text] = .number(Number($1.value.microseconds))
        }
    }

    private static func passed(_ entry: JSON.Object) throws -> [SourceName: Instant] {
        let object = try entry.object("passed")
        return try object.members.reduce(into: [:]) {
            guard let name = SourceName($1.0) else { throw StoredFormError.wrong($1.0) }
            $0[name] = Instant(microseconds: try object.integer($1.0))
        }
    }

    private static func order(_ object: JSON.Object) throws -> Ledger.Entry.Order {
        Ledger.Entry.Order(
            until: StoredOverrides.end(try object.instant("until")),
            unforced: object["flags"]?.string.flatMap(Gate.init))
    }

    private static func json(_ drill: LastDrill) -> JSON.Value {
        var object: JSON.Object = [
            "at": .string(Zone.utc.rfc3339(drill.result.at)),
            "problem": .optional(drill.result.problem),
            "last_good": .optional(drill.lastGood.map(Zone.utc.rfc3339)),
        ]
        if let units = drill.result.stopped { object["stopped"] = .strings(units.map(\.text)) }
        return .object(object)
    }

    private static func drill(_ object: JSON.Object) throws -> LastDrill {
        LastDrill(
            DrillResult(
                at: try object.instant("at"), problem: object["problem"]?.string,
                stopped: object["stopped"] == nil
                    ? nil
                    : try object.array("stopped").compactMap { $0.string.flatMap { UnitName($0) } }),
            lastGood: try object.optionalInstant("last_good"))
    }

    private static func json(_ announced: [Announcement: Instant]) -> JSON.Value {
        .array(
            announced.sorted { $0.key < $1.key }.map { announcement, since in
                .object([
                    "from": .string(Zone.utc.rfc3339(announcement.from)),
                    "until": .optional(announcement.until.map(Zone.utc.rfc3339)),
                    "since": .string(Zone.utc.rfc3339(since)),
                ])
            })
    }

    private static func announced(_ entry: JSON.Object) throws -> [Announcement: Instant] {
        var announced: [Announcement: Instant] = [:]
        for item in try entry.array("announced") {
            let object = try item.asObject()
            let announcement = Announcement(
                from: try object.instant("from"), until: try object.optionalInstant("until"))
            announced[announcement] = try object.instant("since")
        }
        return announced
    }

    /// In microseconds: an announcement that is read as another would count as moved.
    private static func json(_ published: [Announcement: Set<Duration>]) -> JSON.Value {
        .array(
            published.sorted { $0.key < $1.key }.map { announcement, leads in
                .object([
                    "from": .number(Number(announcement.from.microseconds)),
                    "until": .optional(announcement.until?.microseconds),
                    "before": .array(leads.sorted().map { .number(Number($0.microseconds)) }),
                ])
            })
    }

    private static func published(_ entry: JSON.Object) throws -> [Announcement: Set<Duration>] {
        var published: [Announcement: Set<Duration>] = [:]
        for item in try entry.array("told") {
            let object = try item.asObject()
            let until = object["until"]?.number?.int64
            let announcement = Announcement(
                from: Instant(microseconds: try object.integer("from")),
                until: until.map(Instant.init(microseconds:)))
            let leads = try object.array("before").map { lead in
                guard let count = lead.number?.int64 else { throw StoredFormError.wrong("before") }
                return Duration.microseconds(count)
            }
            published[announcement] = Set(leads)
        }
        return published
    }
}
