import CivilTime
import Decision
import JSON

/// Why a file of the state directory cannot be read back.
enum StoredFormError: Error, CustomStringConvertible {
    case unknownSchema
    case wrong(String)

    var description: String {
        switch self {
        case .unknownSchema: "it was written by another version"
        case .wrong(let key): "member '\(key)' is missing or wrong"
        }
    }
}

/// Typed access to what we wrote ourselves.
extension JSON.Object {
    func string(_ key: String) throws(StoredFormError) -> String {
        guard let text = self[key]?.string else { throw .wrong(key) }
        return text
    }

    func array(_ key: String) throws(StoredFormError) -> [JSON.Value] {
        guard let array = self[key]?.array else { throw .wrong(key) }
        return array
    }

    func object(_ key: String) throws(StoredFormError) -> JSON.Object {
        guard let object = self[key]?.object else { throw .wrong(key) }
        return object
    }

    func instant(_ key: String) throws -> Instant {
        try Instant(rfc3339: try string(key))
    }
}

extension JSON.Value {
    func asObject() throws(StoredFormError) -> JSON.Object {
        guard let object else { throw .wrong("(whole)") }
        return object
    }
}

/// The stored form of a source's answers, newest first: each body to the byte with its validators,
/// and the binding that says whose they are.
enum StoredFlags {
    static let schema: Int64 = 1

    static func bytes(of answers: [Answer], binding: String) -> [UInt8] {
        let value: JSON.Value = .object([
            "schema": .number(Number(schema)),
            "binding": .string(binding),
            "answers": .array(answers.map(json)),
        ])
        // A quarter more, for the escapes of JSON inside a string, and for what stands around it.
        let room = answers.reduce(0) { $0 + $1.body.count / 4 * 5 + 512 }
        var bytes = value.serializedBytes(.pretty, room: room)
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    /// Where the binding is another one, they are inherited: in force until the source gives flags,
    /// and of no other use.
    static func answers(
        in bytes: [UInt8], isBound: (String) -> Bool
    ) -> Restored<[Answer]> {
        do {
            let stored = try JSON.Value.parse(bytes).asObject()
            guard stored["schema"]?.number?.int64 == schema else {
                throw StoredFormError.unknownSchema
            }
            let isOurs = isBound(try stored.string("binding"))
            var answers = try stored.array("answers").map { try answer($0.asObject()) }
            if !isOurs { for index in answers.indices { answers[index].inherit() } }
            return answers.isEmpty ? .nothing : .value(answers)
        } catch {
            return .unreadable("\(error)")
        }
    }

    private static func json(_ answer: Answer) -> JSON.Value {
        var stored: JSON.Object = [
            "fetched_at": .string(Zone.utc.rfc3339(answer.fetchedAt)),
            "confirmed_at": .optional(answer.confirmedAt.map(Zone.utc.rfc3339)),
            "etag": .optional(answer.validators.etag),
            "last_modified": .optional(answer.validators.lastModified),
            "version": .optional(answer.version),
            "body": .string(String(decoding: answer.body, as: UTF8.self)),
        ]
        if answer.isInherited { stored["inherited"] = true }
        return .object(stored)
    }

    private static func answer(_ object: JSON.Object) throws -> Answer {
        let body = Array(try object.string("body").utf8)
        return Answer(
            body: body, flags: try FlagDocument.parse(body),
            validators: Validators(
                etag: object["etag"]?.string, lastModified: object["last_modified"]?.string),
            version: object["version"]?.string, fetchedAt: try object.instant("fetched_at"),
            confirmedAt: object["confirmed_at"]?.string == nil
                ? nil : try object.instant("confirmed_at"),
            isInherited: object["inherited"]?.bool ?? false)
    }
}

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

/// The stored form of the last accepted configuration: its files in the order of merging, whole.
enum StoredConfiguration {
    static let schema: Int64 = 1

    static func text(of files: [StateDirectory.ConfigurationFile]) -> String {
        let value: JSON.Value = .object([
            "schema": .number(Number(schema)),
            "files": .array(
                files.map { file in
                    .object([
                        "path": .string(file.path),
                        "text": .string(String(decoding: file.bytes, as: UTF8.self)),
                    ])
                }),
        ])
        return value.serialized(.pretty) + "\n"
    }

    static func files(in bytes: [UInt8]) -> Restored<[StateDirectory.ConfigurationFile]> {
        do {
            let stored = try JSON.Value.parse(bytes).asObject()
            guard stored["schema"]?.number?.int64 == schema else {
                throw StoredFormError.unknownSchema
            }
            let files = try stored.array("files").map { value in
                let object = try value.asObject()
                return StateDirectory.ConfigurationFile(
                    path: try object.string("path"), bytes: Array(try object.string("text").utf8))
            }
            return files.isEmpty ? .nothing : .value(files)
        } catch {
            return .unreadable("\(error)")
        }
    }
}
