package import CivilTime

/// The highest version of a signed document that a source of this host has accepted. It is stored before
/// the document is acted on, and never goes down but by an operator's order.
package struct AcceptedVersion: Hashable, Sendable {
    package let number: Int64
    package let digest: [UInt8]
    /// The latest `issued` of accepted documents with enough signatures for every service; nil without one.
    package private(set) var issued: Instant?

    /// The version of a document that was accepted.
    package init(number: Int64, digest: [UInt8], issued: Instant? = nil) {
        self.number = number
        self.digest = digest
        self.issued = issued
    }

    /// The same, after a document that was issued then.
    func after(issue: Instant?) -> Self {
        var version = self
        if let issue { version.issued = max(issue, issued ?? issue) }
        return version
    }
}

/// What a source knows of its signed documents. One with a higher version waits here until the version is on disk: a
/// host that loses its power in between must not accept an older one afterwards.
struct DocumentTrust: Sendable {
    /// For whom documents have to be signed; nil at a source without signers, where each answer counts.
    private var audience: String?
    /// Counted as none, a version that cannot be read would have any old document accepted.
    private var memory = Stored<AcceptedVersion>.none
    private var jump: VersionJump?
    /// The document that waits, and the version that is being stored for it.
    private var awaiting: (answer: Answer, version: AcceptedVersion)?
    /// Why known documents are unproved, keyed by `SignedAnswer.identity`.
    private var disproved: [[UInt8]: String] = [:]

    /// A source that has accepted nothing yet.
    init(for audience: String?) { self.audience = audience }

    /// The highest version; nil before the first, and while it cannot be read.
    var highest: AcceptedVersion? { memory.value }

    /// Why the stored highest version cannot be read; nil if it can, or there is none.
    var versionProblem: String? { memory.problem }

    /// The highest version, unless a document waits for a higher one to be stored.
    var stored: AcceptedVersion? { awaiting == nil ? highest : nil }

    /// The version that has to be stored before an answer counts; nil if it counts already. Throws why it is refused.
    /// `signatures` is how many people have to sign so that its `issued` counts: one of two signers must not choose
    /// the time.
    func admit(
        _ answer: Answer, at now: Instant, signatures: Int
    ) throws(DocumentRefusal) -> AcceptedVersion? {
        guard let audience else { return nil }
        guard let signed = answer.signed else {
            throw DocumentRefusal(.unsigned, "it is not signed")
        }
        if case .unreadable(let cause) = memory {
            throw DocumentRefusal(
                .versionUnreadable,
                "the highest accepted version cannot be read: \(cause); if its file is broken, "
                    + "'killswitchctl forget SOURCE --accepted-version --reason TEXT' deletes it")
        }
        let accepted = try signed.order.check(by: audience, after: highest, at: now)
            .after(issue: signed.authors.count >= signatures ? signed.order.issued : nil)
        return accepted == highest ? nil : accepted
    }

    /// The version of a document for this host; nil for any other answer, which `admit` refuses.
    func version(of answer: Answer) -> Int64? {
        guard let audience, let order = answer.signed?.order, order.isFor(audience) else {
            return nil
        }
        return order.version
    }

    /// Whether the version of a signed answer jumps (`VersionJump`). The first version may be any.
    func hasVersionJump(to answer: Answer) -> Bool {
        guard let highest, let order = answer.signed?.order else { return false }
        return VersionJump(from: highest.number, to: order.version, isSigned: true) != nil
    }

    /// Keeps a document until its version is stored.
    mutating func awaitVersion(of answer: Answer, until version: AcceptedVersion) {
        awaiting = (answer, version)
    }

    /// The version of the document that waits is stored. Returns the document; nil if none waits any more.
    mutating func versionStored() -> (answer: Answer, hasVersionJump: Bool)? {
        guard let (answer, version) = awaiting else { return nil }
        dropAwaiting()
        let hasVersionJump = hasVersionJump(to: answer)
        if version.number != highest?.number {
            jump = VersionJump(from: highest?.number, to: version.number, isSigned: true)
        }
        memory = .known(version)
        return (answer, hasVersionJump)
    }

    /// The version jumps to warn about: those in unsigned flags, or the last one of the signed documents.
    func versionJumps(unsigned flags: [VersionJump]) -> Set<VersionJump> {
        audience == nil ? Set(flags) : jump.map { [$0] } ?? []
    }

    /// Drops the document that waits. True if one waited.
    @discardableResult
    mutating func dropAwaiting() -> Bool {
        defer { awaiting = nil }
        return awaiting != nil
    }

    /// Restores the stored version. The stored documents count too, in case the file of the version is gone.
    mutating func restore(
        _ stored: Stored<AcceptedVersion>, _ answers: [Answer],
        disproved causes: [[UInt8]: String] = [:]
    ) {
        memory = stored
        if !causes.isEmpty { disproved = causes }
        let newest = answers.compactMap(\.signed?.order).max { $0.version < $1.version }
        if case .none = stored, let newest {
            memory = .known(AcceptedVersion(number: newest.version, digest: newest.digest))
        }
        jump = highest.flatMap { VersionJump(from: nil, to: $0.number, isSigned: true) }
    }

    /// Forgets the document that waits, and perhaps the highest version, by an order. True if one waited.
    mutating func forget(isVersionDropped: Bool) -> Bool {
        let isWaiting = dropAwaiting()
        disproved = [:]
        if isVersionDropped { (memory, jump) = (.none, nil) }
        return isWaiting
    }

    /// Takes another audience at a reload.
    mutating func setAudience(_ audience: String?) { self.audience = audience }

    // MARK: - Proof

    /// Whether the signatures of an answer count: so they do at a source without signers.
    func isProved(_ answer: Answer) -> Bool {
        guard let audience else { return true }
        guard let signed = answer.signed else { return false }
        return signed.order.isFor(audience) && disproved[signed.identity] == nil
    }

    /// Sets which documents are unproved, each with the cause.
    mutating func disprove(_ causes: [[UInt8]: String]) { disproved = causes }

    /// Why some of these answers are unproved, as clauses.
    func disproofs(of answers: [NumberedAnswer]) -> [String] {
        if audience == nil || disproved.isEmpty { return [] }
        return answers.compactMap { $0.answer.signed.flatMap { disproved[$0.identity] } }
            .map { "the signatures of the flags in force are no longer valid: \($0)" }
    }
}
