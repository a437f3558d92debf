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
