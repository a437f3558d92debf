import CivilTime
import Decision
import JSON

/// The stored form of the overrides: an object by service.
enum StoredOverrides {
    static let schema: Int64 = 1

    static func text(of overrides: [ServiceName: Override]) -> String {
        var services = JSON.Object()
        for (name, override) in overrides.sorted(by: { $0.key < $1.key }) {
            services[name.text] = .object([
                "state": .string(override.state.rawValue),
                "reason": .string(override.cause),
                "author": .string(override.author),
                "since": .string(Zone.utc.rfc3339(override.since)),
                "until": .string(Zone.utc.rfc3339(override.until)),
            ])
        }
        let value: JSON.Value = .object([
            "schema": .number(Number(schema)), "services": .object(services),
        ])
        return value.serialized(.pretty) + "\n"
    }

    static func overrides(in bytes: [UInt8]) -> Restored<[ServiceName: Override]> {
        do {
            let stored = try JSON.Value.parse(bytes).asObject()
            guard stored["schema"]?.number?.int64 == schema else {
                throw StoredFormError.unknownSchema
            }
            var overrides: [ServiceName: Override] = [:]
            for (key, value) in try stored.object("services").members {
                guard let name = ServiceName(key) else { throw StoredFormError.wrong(key) }
                overrides[name] = try override(value.asObject())
            }
            return .value(overrides)
        } catch {
            return .unreadable("\(error)")
        }
    }

    private static func override(_ object: JSON.Object) throws -> Override {
        guard let state = State(rawValue: try object.string("state")),
            let override = Override(
                state: state, cause: try object.string("reason"),
                author: try object.string("author"), since: try object.instant("since"),
                until: try object.instant("until"))
        else { throw StoredFormError.wrong("state") }
        return override
    }
}
