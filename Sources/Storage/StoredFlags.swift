import CivilTime
import Decision
import JSON

/// The stored answers of a source, newest first: a document of a line with their validators, and after it their
/// bodies, byte for byte, a line end after each. To escape them would be a quarter of the cost of new flags. The
/// binding names the address and the credentials by which they were fetched.
enum StoredFlags {
    static func bytes(of answers: [Answer], fingerprint: String) -> [UInt8] {
        var bytes = StoredForm.bytes(
            ["binding": .string(fingerprint), "answers": .array(answers.map(json))],
            style: .compact, room: answers.reduce(512) { $0 + $1.body.count + 512 })
        for answer in answers {
            bytes += answer.body
            bytes.append(.lineFeed)
        }
        return bytes
    }

    /// The answers in a file. Those whose binding `isBound` rejects are inherited: in force, but no validators.
    static func answers(in bytes: [UInt8], isBound: (String) -> Bool) throws -> [Answer]? {
        let header = bytes.prefix { $0 != .lineFeed }
        var rest = bytes[header.endIndex...].dropFirst()
        return try StoredForm.read(Array(header)) { stored in
            try answers(in: stored, &rest, isBound)
        }
    }

    private static func answers(
        in stored: JSON.Object, _ bodies: inout ArraySlice<UInt8>, _ isBound: (String) -> Bool
    ) throws -> [Answer]? {
        let isOurs = isBound(try stored.string("binding"))
        var answers: [Answer] = []
        for value in try stored.array("answers") {
            let object = try value.asObject()
            guard let size = object["size"]?.number?.int64, (0..<Int64(bodies.count)).contains(size)
            else { throw StoredFormError.wrong("size") }
            answers.append(try answer(object, body: Array(bodies.prefix(Int(size)))))
            bodies = bodies.dropFirst(Int(size) + 1)
        }
        if !isOurs { for index in answers.indices { answers[index].inherit() } }
        return answers.isEmpty ? nil : answers
    }

    private static func json(_ answer: Answer) -> JSON.Value {
        var stored: JSON.Object = [
            "fetched_at": .string(Zone.utc.rfc3339(answer.fetchedAt)),
            "confirmed_at": .optional(answer.confirmedAt.map(Zone.utc.rfc3339)),
            "etag": .optional(answer.validators.etag),
            "last_modified": .optional(answer.validators.lastModified),
            "version": .null,
            "size": .number(Number(Int64(answer.body.count))),
        ]
        switch answer.version {
        case nil: break
        case .ofAll(let version): stored["version"] = .string(version)
        case .ofEach(let numbers): stored["versions"] = .object(numbers)
        }
        if answer.isInherited { stored["inherited"] = true }
        if let signed = answer.signed {
            stored["signed"] = .object([
                "authors": .array(signed.authors.map(JSON.Value.string)),
                "digest": .string(StoredVersion.text(of: signed.order.digest)),
                "signatures": .string(String(decoding: signed.signatures, as: UTF8.self)),
                "readers": .array(answer.switches.map(json)),
            ])
        }
        if !answer.unreadable.isEmpty { stored["unreadable"] = json(answer.unreadable) }
        return .object(stored)
    }

    private static func answer(_ object: JSON.Object, body: [UInt8]) throws -> Answer {
        // The source has decided whether a value alone counts.
        let flags = try FlagDocument.parse(body, alone: .word)
        var answer = Answer(
            body: body, flags: flags,
            unreadable: try object["unreadable"].map { try unreadable($0.asObject()) }
                ?? UnreadableFlags(),
            validators: Validators(
                etag: object["etag"]?.string, lastModified: object["last_modified"]?.string),
            version: object["versions"]?.object.map(FlagVersion.ofEach)
                ?? object["version"]?.string.map(FlagVersion.ofAll),
            fetchedAt: try object.instant("fetched_at"),
            confirmedAt: try object.optionalInstant("confirmed_at"),
            isInherited: object["inherited"]?.bool ?? false,
            signed: try object["signed"].map { try signed($0.asObject(), flags) })
        answer.switches = try object["signed"].map { try switches($0.asObject()) } ?? []
        return answer
    }

    private static func json(_ reader: SwitchID) -> JSON.Value {
        .object([
            "service": .string(reader.service.text),
            "switch": .number(Number(Int64(reader.position))),
        ])
    }

    private static func switches(_ signed: JSON.Object) throws -> [SwitchID] {
        try signed.array("readers").map { value in
            let reader = try value.asObject()
            guard let service = ServiceName(try reader.string("service")) else {
                throw StoredFormError.wrong("readers")
            }
            return SwitchID(service: service, position: Int(try reader.integer("switch")))
        }
    }

    private static func signed(_ object: JSON.Object, _ flags: JSON.Object) throws -> SignedAnswer {
        let order = try SignedMetadata(flags, digest: try StoredVersion.digest(in: object))
        let authors = try object.array("authors").map { author throws(StoredFormError) in
            guard let name = author.string else { throw .wrong("authors") }
            return name
        }
        return SignedAnswer(
            order, by: authors, signatures: Array(try object.string("signatures").utf8))
    }

    private static func json(_ unreadable: UnreadableFlags) -> JSON.Value {
        let causes = unreadable.causes.map { ($0.key.text, JSON.Value.string($0.value)) }
        return .object([
            "causes": .object(JSON.Object(causes.sorted { $0.0 < $1.0 })),
            "unlisted": .optional(unreadable.unlisted),
        ])
    }

    private static func unreadable(_ object: JSON.Object) throws -> UnreadableFlags {
        let causes = try object.object("causes")
        var unreadable = UnreadableFlags()
        for key in causes.map(\.key) {
            unreadable.causes[ExactString(key)] = try causes.string(key)
        }
        unreadable.unlisted = object["unlisted"]?.string
        return unreadable
    }
}

extension UInt8 {
    fileprivate static let lineFeed = UInt8(ascii: "\n")
}
