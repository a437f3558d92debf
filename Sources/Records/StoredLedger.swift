import CivilTime
import Decision
import JSON

/// The stored form of the ledger: an object of entries by service.
enum StoredLedger {
    static let schema: Int64 = 1

    static func text(of ledger: Ledger) -> String {
        var services = JSON.Object()
        for (name, entry) in ledger.entries.sorted(by: { $0.key < $1.key }) {
            var stored: JSON.Object = [
                "state": .string(entry.state.rawValue),
                "since": .string(Zone.utc.rfc3339(entry.since)),
                "generation": .number(Number(Int64(entry.generation))),
                "boot_id": .string(entry.bootID),
            ]
            if entry.isHeld { stored["held"] = true }
            services[name.text] = .object(stored)
        }
        let value: JSON.Value = .object([
            "schema": .number(Number(schema)), "services": .object(services),
        ])
        return value.serialized(.pretty) + "\n"
    }

    static func ledger(in bytes: [UInt8]) -> Restored<Ledger> {
        do {
            let stored = try JSON.Value.parse(bytes).asObject()
            guard stored["schema"]?.number?.int64 == schema else {
                throw StoredFormError.unknownSchema
            }
            var ledger = Ledger()
            for (key, value) in try stored.object("services").members {
                guard let name = ServiceName(key) else { throw StoredFormError.wrong(key) }
                ledger.entries[name] = try entry(value.asObject())
            }
            return .value(ledger)
        } catch {
            return .unreadable("\(error)")
        }
    }

    /// Nobody counts beyond what JSON's numbers hold exactly (RFC 8259 §6); from there on the next
    /// changes can be counted still.
    private static let generations: ClosedRange<Int64> = 0...(1 << 53)

    private static func entry(_ object: JSON.Object) throws -> Ledger.Entry {
        guard let state = State(rawValue: try object.string("state")) else {
            throw StoredFormError.wrong("state")
        }
        guard let generation = object["generation"]?.number?.int64, generations.contains(generation)
        else { throw StoredFormError.wrong("generation") }
        return Ledger.Entry(
            state: state, since: try object.instant("since"), generation: Int(generation),
            bootID: try object.string("boot_id"), isHeld: object["held"]?.bool ?? false)
    }
}
