package import CivilTime
package import JSON

/// One good answer of a source: a consistent snapshot of its flags, with validators and times.
package struct Answer: Hashable, Sendable {
    /// The bytes of the answer, as they are stored.
    package var body: [UInt8]
    /// The members of the answer's JSON object.
    package var flags: JSON.Object
    /// The flags that the source has and could not give. `flags` holds null for each of these keys.
    package var unreadable: UnreadableFlags
    /// They make the next request conditional; empty if the source has none.
    package var validators: Validators
    /// The source's own word for this state of its flags.
    package var version: FlagVersion?
    /// When the answer came, by the wall clock of this host.
    package var fetchedAt: Instant
    /// When the source last confirmed it, once a newer one has come; nil for the newest.
    package var confirmedAt: Instant?
    /// Whether it came from an earlier address of the source. It is in force until the present
    /// address gives flags. It has no validators, and the version in its flags does not count.
    package var isInherited: Bool
    /// Who signed it, and what it says of itself; nil from a source without signers.
    package var signed: SignedAnswer?
    /// The switches that rest on it, in force or staged, as stored with a signed answer: not each of them accepts
    /// what one person has signed.
    package var switches: [SwitchID] = []

    /// When its source last confirmed it, as far as is known without the source.
    var lastConfirmed: Confirmation { .earlier(confirmedAt ?? fetchedAt) }

    /// An answer of the source's present address, unless `isInherited`.
    package init(
        body: [UInt8], flags: JSON.Object, unreadable: UnreadableFlags = UnreadableFlags(),
        validators: Validators = Validators(), version: FlagVersion? = nil, fetchedAt: Instant,
        confirmedAt: Instant? = nil, isInherited: Bool = false, signed: SignedAnswer? = nil
    ) {
        self.body = body
        self.flags = flags
        self.unreadable = unreadable
        self.validators = validators
        self.version = version
        self.fetchedAt = fetchedAt
        self.confirmedAt = confirmedAt
        self.isInherited = isInherited
        self.signed = signed
    }

    /// Whether it brings nothing new after `before`: the same bytes and signers, unreadable flags, and numbers if each
    /// flag has one. A word for all flags does not count, because it changes with other flags too.
    package func repeats(_ before: Answer) -> Bool {
        guard body == before.body, unreadable == before.unreadable else { return false }
        switch (signed, before.signed) {
        case (nil, nil): break
        case (let signed?, let known?) where signed.addsNothing(to: known): break
        default: return false
        }
        if case .ofEach = version { return version == before.version }
        return true
    }

    /// Whether both answers have the same bytes, perhaps with other signers: the same flags are in both.
    func isSame(as other: Answer) -> Bool {
        body == other.body && unreadable == other.unreadable && version == other.version
            && signed?.order == other.signed?.order && isInherited == other.isInherited
    }

    /// Makes it an answer of an earlier address: drops its validators.
    package mutating func inherit() {
        validators = Validators()
        isInherited = true
    }
}

/// A switch that rests on an answer, as it is stored.
package struct SwitchID: Hashable, Sendable {
    package let service: ServiceName
    /// Its position among the switches of the service.
    package let position: Int

    /// The switch of a service at this position.
    package init(service: ServiceName, position: Int) {
        self.service = service
        self.position = position
    }
}

/// Flags without a value that are not missing: no default counts, and the answer is invalid for all who read them.
package struct UnreadableFlags: Hashable, Sendable {
    /// Why a flag has no value: the end of a sentence that begins with its key.
    package var causes: [ExactString: String] = [:]
    /// Why the flags that the answer lacks may not be missing; nil if they are.
    package var unlisted: String?

    /// No flag is unreadable.
    package init() {}

    /// Whether each flag is readable or missing.
    package var isEmpty: Bool { causes.isEmpty && unlisted == nil }

    /// Throws for an unreadable flag of an answer with these flags.
    func check(_ key: String, in flags: JSON.Object) throws(InvalidFlag) {
        if isEmpty { return }
        let cause = causes[ExactString(key)] ?? (flags[key] == nil ? unlisted : nil)
        if let cause { throw .unreadable(key: key, cause: cause) }
    }
}

/// The source's own word for a state of its flags.
package enum FlagVersion: Hashable, Sendable {
    /// One word for all flags, such as the version of a template. It changes with every flag.
    case ofAll(String)
    /// The number of the newest change of each flag, such as a `mod_revision` of etcd.
    case ofEach(JSON.Object)
}

/// The validators of RFC 9110 §8.8: only the server knows their meaning.
package struct Validators: Hashable, Sendable {
    /// The field `ETag`, with its quotes.
    package var etag: String?
    /// The field `Last-Modified`, as the server wrote it.
    package var lastModified: String?

    /// The validators of one answer; both nil make the next request unconditional.
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

    var isFailure: Bool { if case .failure = self { true } else { false } }
}

/// Why a fetch brought no flags. Never an order: it only decides when the next fetch is due.
package struct Failure: Error, Hashable, Sendable {
    /// How the fetch failed, as far as the back-off depends on it.
    package enum Kind: Hashable, Sendable {
        /// No answer or a part of one: a missing file, a closed port, a time-out, a 5xx.
        case unreachable
        /// The source denies access (401, 403).
        case refused
        /// The body holds no flags: it is empty, a web page or broken JSON.
        case invalid
    }

    package var kind: Kind
    /// One clause, lower case: the operation and the cause.
    package var detail: String
    /// The wait that the source asked for, as with `Retry-After` (RFC 9110 §10.2.3).
    package var retryAfter: Duration?
    /// Why a signed document is refused; nil for every other failure.
    package var refusal: DocumentRefusal?
    /// Whether the answer was larger than `max_body`.
    package var isTooLarge = false

    /// A failure with a clause for the log: lower case, without a full stop.
    package init(_ kind: Kind, _ detail: String, retryAfter: Duration? = nil) {
        self.kind = kind
        self.detail = detail
        self.retryAfter = retryAfter
    }
}

/// When a source last confirmed some flags.
enum Confirmation: Hashable, Sendable {
    case never
    /// Before this start, by the wall clock.
    case earlier(Instant)
    /// Since the start.
    case now(Boottime)

    /// The time of a confirmation since the start; nil for the others.
    var moment: Boottime? { if case .now(let moment) = self { moment } else { nil } }

    /// The time since the confirmation; zero for `never`.
    func age(at now: Now) -> Duration {
        switch self {
        case .never: .zero
        case .earlier(let instant): max(.zero, now.wall - instant)
        case .now(let moment): now.boot - moment
        }
    }

    /// The confirmation by the wall clock; nil for `never`.
    func instant(at now: Now) -> Instant? {
        switch self {
        case .never: nil
        case .earlier(let instant): instant
        case .now(let moment): now.wall - (now.boot - moment)
        }
    }

    /// The origin has confirmed the flags `age` before this moment, or later by an earlier answer: an answer from a
    /// cache confirms nothing newer, and takes nothing back.
    mutating func renew(at now: Now, _ age: Duration) {
        let known = age > .zero && self != .never ? now.boot - self.age(at: now) : nil
        self = .now(max(now.boot - age, known ?? now.boot - age))
    }

    /// The same confirmation, as a restart would see it.
    func earlier(at now: Now) -> Confirmation { instant(at: now).map { .earlier($0) } ?? .never }
}
