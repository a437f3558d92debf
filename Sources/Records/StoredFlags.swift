import CivilTime
import Decision
import JSON

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

    /// Nothing where the binding is another one: those flags are another source's.
    static func answers(
        in bytes: [UInt8], isBound: (String) -> Bool
    ) -> Restored<[Answer]> {
        do {
            let stored = try JSON.Value.parse(bytes).asObject()
            guard stored["schema"]?.number?.int64 == schema else {
                throw StoredFormError.unknownSchema
            }
            guard let binding = stored["binding"]?.string, isBound(binding) else { return .nothing }
            let answers = try stored.array("answers").map { try answer($0.asObject()) }
            return answers.isEmpty ? .nothing : .value(answers)
        } catch {
            return .unreadable("\(error)")
        }
    }

    private static func json(_ answer: Answer) -> JSON.Value {
        .object([
            "fetched_at": .string(Zone.utc.rfc3339(answer.fetchedAt)),
            "confirmed_at": .optional(answer.confirmedAt.map(Zone.utc.rfc3339)),
            "etag": .optional(answer.validators.etag),
            "last_modified": .optional(answer.validators.lastModified),
            "version": .optional(answer.version),
            "body": .string(String(decoding: answer.body, as: UTF8.self)),
        ])
    }

    private static func answer(_ object: JSON.Object) throws -> Answer {
        let body = Array(try object.string("body").utf8)
        return Answer(
            body: body, flags: try FlagDocument.parse(body),
            validators: Validators(
                etag: object["etag"]?.string, lastModified: object["last_modified"]?.string),
            version: object["version"]?.string, fetchedAt: try object.instant("fetched_at"),
            confirmedAt: object["confirmed_at"]?.string == nil
                ? nil : try object.instant("confirmed_at"))
    }
}
