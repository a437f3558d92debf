import CivilTime
import Decision
import JSON

/// The common form of the documents in the state directory: an object with the member `schema`.
enum StoredForm {
    private static let schema: Int64 = 1

    /// The document with these members beside its schema. `room` is its size in bytes, about.
    static func bytes(
        _ members: JSON.Object, style: JSON.Style = .pretty, room: Int = 0
    ) -> [UInt8] {
        var document: JSON.Object = ["schema": .number(Number(schema))]
        for (key, value) in members { document[key] = value }
        var bytes = JSON.Value.object(document).serializedBytes(style, room: room)
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    /// Reads a document; `content` takes its object, and returns nil if there is nothing in it.
    static func read<Value>(
        _ bytes: [UInt8], _ content: (JSON.Object) throws -> Value?
    ) throws -> Value? {
        let stored = try JSON.Value.parse(bytes).asObject()
        guard stored["schema"]?.number?.int64 == schema else { throw StoredFormError.unknownSchema }
        return try content(stored)
    }

    /// A document with a line for each service, in the order of their names, and other members.
    static func bytes<Value>(
        byService values: [ServiceName: Value], and others: JSON.Object = JSON.Object(),
        _ json: (Value) -> JSON.Object
    ) -> [UInt8] {
        let services = values.sorted { $0.key < $1.key }.map {
            ($0.key.text, JSON.Value.object(json($0.value)))
        }
        var members: JSON.Object = ["services": .object(JSON.Object(services))]
        for (key, value) in others { members[key] = value }
        return bytes(members, style: .outline)
    }

    /// The values of the services in such a document; throws for a name that no service can have.
    static func byService<Value>(
        _ stored: JSON.Object, _ value: (JSON.Object) throws -> Value
    ) throws -> [ServiceName: Value] {
        var values: [ServiceName: Value] = [:]
        for (key, member) in try stored.object("services").members {
            guard let name = ServiceName(key) else { throw StoredFormError.wrong(key) }
            values[name] = try value(member.asObject())
        }
        return values
    }
}

/// The stored overrides: one for each service that has one.
enum StoredOverrides {
    static func bytes(of overrides: [ServiceName: Override]) -> [UInt8] {
        StoredForm.bytes(byService: overrides) { override in
            var object = override.json(in: .utc)
            object["until"] = .string(end(override.until))
            if override.isUrgent { object["now"] = true }
            if override.isDrill { object["drill"] = true }
            return object
        }
    }

    static func overrides(in stored: JSON.Object) throws -> [ServiceName: Override] {
        try StoredForm.byService(stored) { object in
            let override = Override(
                state: try object.state(), cause: try object.string("reason"),
                author: try object.string("author"), since: try object.instant("since"),
                until: end(try object.instant("until")), isUrgent: try object.flag("now"),
                isDrill: try object.flag("drill"))
            guard let override else { throw StoredFormError.wrong("state") }
            return override
        }
    }

    /// An order without an end is stored with one that never comes: earlier versions, which know no such order, keep it
    /// in force as well.
    static func end(_ end: Instant?) -> String { Zone.utc.rfc3339(end ?? never) }

    /// The stored end of an order; nil without one.
    static func end(_ stored: Instant) -> Instant? { stored < never ? stored : nil }

    /// 9999-01-01.
    private static let never = Instant(seconds: 253_370_764_800)
}

/// The stored last accepted configuration: its files in the order of merging, its page templates and time zones.
enum StoredConfiguration {
    static func bytes(of configuration: StateDirectory.KeptConfiguration) -> [UInt8] {
        var object: JSON.Object = ["files": .array(configuration.files.map(value))]
        if !configuration.templates.isEmpty {
            object["templates"] = .array(configuration.templates.map(value))
        }
        if !configuration.zones.isEmpty {
            object["zones"] = .array(
                configuration.zones.map {
                    .object(["name": .string($0.name), "tzif": .string($0.bytes.hexadecimal)])
                })
        }
        return StoredForm.bytes(object)
    }

    /// The configuration; nil without a file.
    static func configuration(in stored: JSON.Object) throws -> StateDirectory.KeptConfiguration? {
        let files = try stored.array("files").map(file)
        if files.isEmpty { return nil }
        let templates = stored["templates"] == nil ? [] : try stored.array("templates").map(file)
        return (files, templates, zones(in: stored))
    }

    /// The zones that can be read: a lost zone is no reason to lose the configuration.
    private static func zones(in stored: JSON.Object) -> [StateDirectory.StoredZone] {
        (stored["zones"]?.array ?? []).compactMap { item in
            guard let name = item.object?["name"]?.string,
                let bytes = item.object?["tzif"]?.string.flatMap([UInt8].init(hexadecimal:))
            else { return nil }
            return (name, bytes)
        }
    }

    private static func value(of file: StateDirectory.ConfigurationFile) -> JSON.Value {
        let text = String(decoding: file.bytes, as: UTF8.self)
        return .object(["path": .string(file.path), "text": .string(text)])
    }

    private static func file(_ value: JSON.Value) throws -> StateDirectory.ConfigurationFile {
        let object = try value.asObject()
        return (try object.string("path"), Array(try object.string("text").utf8))
    }
}

extension [UInt8] {
    /// Two hexadecimal digits for each byte.
    var hexadecimal: String {
        map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// Reads such digits; nil for another text.
    init?(hexadecimal text: String) {
        let digits = Array(text.utf8)
        self = stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0...].prefix(2), as: UTF8.self), radix: 16)
        }
        guard hexadecimal.utf8.elementsEqual(digits) else { return nil }
    }
}

/// Why a document of killswitchd's own cannot be read back.
enum StoredFormError: Error, CustomStringConvertible {
    case unknownSchema
    /// This member is missing or has a wrong type or value.
    case wrong(String)

    var description: String {
        switch self {
        case .unknownSchema: "it was written by another version"
        case .wrong(let key): "member '\(key)' is missing or wrong"
        }
    }
}

/// Members that must be there, with their type.
extension JSON.Object {
    func string(_ key: String) throws(StoredFormError) -> String {
        guard let text = self[key]?.string else { throw .wrong(key) }
        return text
    }

    func state() throws(StoredFormError) -> State {
        guard let state = State(rawValue: try string("state")) else { throw .wrong("state") }
        return state
    }

    /// A Boolean that is false where it is absent.
    func flag(_ key: String) throws(StoredFormError) -> Bool {
        guard let value = self[key] else { return false }
        guard let flag = value.bool else { throw .wrong(key) }
        return flag
    }

    /// A time by RFC 3339.
    func instant(_ key: String) throws -> Instant { try Instant(rfc3339: try string(key)) }

    /// The time in a member that may be null; nil then.
    func optionalInstant(_ key: String) throws -> Instant? {
        self[key] == .null ? nil : try instant(key)
    }

    /// A time of the boot clock, in microseconds.
    func boottime(_ key: String) throws(StoredFormError) -> Boottime {
        Boottime(microseconds: try integer(key))
    }

    func integer(_ key: String) throws(StoredFormError) -> Int64 {
        guard let number = self[key]?.number?.int64 else { throw .wrong(key) }
        return number
    }

    /// The member `generation`: a count that each reader of JSON knows exactly (RFC 8259 §6), with room to count on.
    func generation() throws(StoredFormError) -> Int64 {
        let generation = try integer("generation")
        guard (0...(1 << 53)).contains(generation) else { throw .wrong("generation") }
        return generation
    }

    func array(_ key: String) throws(StoredFormError) -> [JSON.Value] {
        guard let array = self[key]?.array else { throw .wrong(key) }
        return array
    }

    func object(_ key: String) throws(StoredFormError) -> JSON.Object {
        guard let object = self[key]?.object else { throw .wrong(key) }
        return object
    }
}

extension JSON.Value {
    /// The value as an object; throws if it is something else.
    func asObject() throws(StoredFormError) -> JSON.Object {
        guard let object else { throw .wrong("(whole)") }
        return object
    }
}
