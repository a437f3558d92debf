package import CivilTime
package import JSON

/// What a signed document says of itself, beside its flags: which version it is, for whom, and until when.
///
/// A signature shows who wrote a document. These members keep an old document, or the document of another
/// fleet, from being shown in its place.
package struct SignedMetadata: Hashable, Sendable {
    /// The number of the document. Each version has one content.
    package let version: Int64
    /// When its flags become stale, if no successor has come.
    package let expires: Instant
    /// When it was signed, by the clock of a signer; nil if it is silent. No right clock shows an earlier time.
    package let issued: Instant?
    /// For whom it is, such as `prod`.
    package let audiences: [String]
    /// A digest of the bytes that are signed. Signatures that are added do not change it.
    package let digest: [UInt8]

    /// The members of a signed object that are no flags.
    static let keys = Set(["version", "expires", "issued", "audience"].map(ExactString.init))

    /// Reads the members of the signed object, which has this digest.
    package init(_ flags: JSON.Object, digest: [UInt8]) throws(DocumentRefusal) {
        do throws(InvalidFlag) {
            guard let version = try Flag("version", of: flags).optionalInteger() else {
                throw .missing(key: "version")
            }
            self.version = version
            expires = try Flag("expires", of: flags).time()
            // The unset time of a signer's language is no time of signing.
            issued = try Flag("issued", of: flags).optionalTime().flatMap { $0.isDate ? $0 : nil }
            audiences = try Self.audiences(flags)
        } catch {
            throw DocumentRefusal(
                .signedMemberUnreadable, "\(error), and a signed document needs it")
        }
        self.digest = digest
        guard issued.map({ $0 <= expires }) ?? true else {
            throw DocumentRefusal(
                .signedMemberUnreadable, "its 'issued' is later than its 'expires'")
        }
    }

    private static func audiences(_ flags: JSON.Object) throws(InvalidFlag) -> [String] {
        let value = try Flag("audience", of: flags).required()
        if let text = value.string { return [text] }
        let elements = try value.typed(\.array, "a string or a list of strings", of: "audience")
        return try elements.map { (element) throws(InvalidFlag) in
            try element.typed(\.string, "a string", of: "audience[]")
        }
    }

    /// Whether it is for hosts of this audience.
    func isFor(_ audience: String) -> Bool { audiences.contains { $0.isSame(as: audience) } }

    /// Throws why the document is no order for this host. Returns the version that is accepted with it.
    ///
    /// `accepted` is the highest version so far; nil for a host without memory. `now` is at the latest the
    /// present time. `expires` refuses a document only when the host sees it for the first time. A document
    /// that was accepted before stays in force after it, with stale flags.
    package func check(
        by audience: String, after accepted: AcceptedVersion?, at now: Instant
    ) throws(DocumentRefusal) -> AcceptedVersion {
        guard isFor(audience) else {
            let others = audiences.isEmpty ? "nobody" : quoted(audiences.joined(separator: ", "))
            throw DocumentRefusal(
                .otherAudience, "it is for \(others), this host is \(quoted(audience))")
        }
        if let accepted {
            guard version >= accepted.number else {
                throw DocumentRefusal(
                    .rollback,
                    "its version \(version) is lower than \(accepted.number), which was accepted "
                        + "before")
            }
            if version == accepted.number {
                guard digest == accepted.digest else {
                    throw DocumentRefusal(
                        .sameVersionOtherBytes,
                        "its version \(version) was accepted before with different content")
                }
                return accepted
            }
        }
        if expires <= now {
            throw DocumentRefusal(
                .expiredAtFirstSight,
                "it expired at \(Zone.utc.rfc3339(expires)), before this host first saw it")
        }
        return AcceptedVersion(number: version, digest: digest, issued: accepted?.issued)
    }
}

/// What a source knows of an answer that is signed.
package struct SignedAnswer: Hashable, Sendable {
    package let order: SignedMetadata
    /// The people who have signed it, one name for each.
    package let authors: [String]
    /// The signatures as they follow the document, so that they can be checked again.
    package let signatures: [UInt8]

    /// An answer whose signatures are good.
    package init(_ order: SignedMetadata, by authors: [String], signatures: [UInt8] = []) {
        self.order = order
        self.authors = authors
        self.signatures = signatures
    }

    /// What tells it from others: the digest of the document, and its signatures. The same document with other
    /// signatures may be proved where this one is not.
    package var identity: [UInt8] { order.digest + signatures }

    /// Whether it shows nothing new: the same document, no other author. A server can leave signatures out.
    func addsNothing(to known: SignedAnswer) -> Bool {
        order == known.order
            && authors.allSatisfy { author in
                known.authors.contains { $0.isSame(as: author) }
            }
    }
}

/// Why a signed document is refused. It changes nothing: the last good flags stay in force.
package struct DocumentRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The refusal as one word; killswitchd(8) explains each.
    package let slug: Reason.Slug
    /// One clause, lower case, about the document ("it").
    package let description: String

    /// A refusal for the cause that the clause names.
    package init(_ slug: Reason.Slug, _ clause: String) {
        self.slug = slug
        description = clause
    }
}

extension Failure {
    /// A fetch that brought a document which is refused.
    package init(_ refusal: DocumentRefusal, of what: String = "the signed document") {
        self.init(.invalid, "\(what) is refused, '\(refusal.slug.rawValue)': \(refusal)")
        self.refusal = refusal
    }
}
