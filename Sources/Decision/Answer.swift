package import CivilTime
package import JSON

/// One good answer of a source: a consistent snapshot of its flags, and where it came from.
package struct Answer: Hashable, Sendable {
    /// The answer to the byte, as it is stored.
    package var body: [UInt8]
    package var flags: JSON.Object
    /// What makes the next request conditional, where the source knows such a thing.
    package var validators: Validators
    /// The source's own word for this state of its flags.
    package var version: String?
    package var fetchedAt: Instant
    /// When the source last confirmed it, once a newer one has come; nil for the newest of a source.
    package var confirmedAt: Instant?
    /// Whether it came from another address than the one that is asked now. It is in force until that
    /// one gives flags, and says nothing about them: its validators are gone, its edition does not
    /// count.
    package var isInherited: Bool

    package init(
        body: [UInt8], flags: JSON.Object, validators: Validators = Validators(),
        version: String? = nil, fetchedAt: Instant, confirmedAt: Instant? = nil,
        isInherited: Bool = false
    ) {
        self.body = body
        self.flags = flags
        self.validators = validators
        self.version = version
        self.fetchedAt = fetchedAt
        self.confirmedAt = confirmedAt
        self.isInherited = isInherited
    }

    /// The same flags, for a source that asks another address now.
    package mutating func inherit() {
        validators = Validators()
        isInherited = true
    }
}

/// The validators of RFC 9110 §8.8, opaque to everybody but the server.
package struct Validators: Hashable, Sendable {
    package var etag: String?
    package var lastModified: String?

    package init(etag: String? = nil, lastModified: String? = nil) {
        self.etag = etag
        self.lastModified = lastModified
    }
}

/// How a fetch ended.
package enum Outcome: Hashable, Sendable {
    case answer(Answer)
    /// The flags are those of the newest answer: a 304, or the same bytes again.
    case unchanged
    case failure(Failure)
}

/// Why a fetch brought no flags. Never an order: it only decides when the source is asked again.
package struct Failure: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// Nothing came, or not all of it: a missing file, a closed port, a time-out, a 5xx.
        case unreachable
        /// The source answered, and says we may not ask (401, 403).
        case refused
        /// Something came that is no flags at all: an empty body, a web page, broken JSON.
        case invalid
    }

    package var kind: Kind
    /// One clause, lower case: what was tried, and why it failed.
    package var detail: String
    /// How long the source asked to be left alone.
    package var retryAfter: Duration?

    package init(_ kind: Kind, _ detail: String, retryAfter: Duration? = nil) {
        self.kind = kind
        self.detail = detail
        self.retryAfter = retryAfter
    }
}

/// Reads the body of an answer as flags: one JSON object, whose members they are.
///
/// What a misconfigured server sends instead is named, for that is what the administrator has to
/// find: an empty body, a web page, text that is no JSON.
package enum FlagDocument {
    package static func parse(_ body: [UInt8]) throws(Failure) -> JSON.Object {
        guard let first = body.first(where: { !isWhitespace($0) }) else {
            throw Failure(.invalid, "the answer is empty")
        }
        if first == UInt8(ascii: "<") {
            throw Failure(.invalid, "the answer is a web page, not JSON")
        }
        let value: JSON.Value
        do {
            value = try JSON.Value.parse(body)
        } catch {
            throw Failure(.invalid, "the answer is not valid JSON: \(error)")
        }
        guard case .object(let flags) = value else {
            throw Failure(.invalid, "the answer is \(value.typeName), not a JSON object")
        }
        return flags
    }

    private static func isWhitespace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }
}
