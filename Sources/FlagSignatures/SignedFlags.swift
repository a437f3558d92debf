package import CivilTime
package import Decision
import Files
package import Signing

/// Flags in a signed document: from the bytes to an answer, or to the reason for which it is refused.
package enum SignedFlags {
    /// The answer in a document with signatures by these people at this time. Its version is that of the
    /// document. Throws for a document that is refused, or that holds no flags.
    package static func answer(
        in bytes: [UInt8], by signers: AllowedSigners, at now: Instant
    ) throws(Failure) -> Answer {
        let document: SignedDocument
        let authors: CountedSigners
        do throws(SignatureRefusal) {
            document = try SignedDocument(bytes)
            authors = try document.authors(among: signers, at: now)
        } catch {
            throw refusal(error).map { Failure($0) } ?? Failure(.unreachable, "\(error)")
        }
        let content = document.content
        let flags = try FlagDocument.parse(content)
        let order: SignedMetadata
        do throws(DocumentRefusal) {
            order = try SignedMetadata(flags, digest: SHA256.digest(of: content))
        } catch {
            throw Failure(error)
        }
        return Answer(
            body: content, flags: flags, version: .ofAll(String(order.version)), fetchedAt: now,
            signed: SignedAnswer(
                order, by: authors.names, signatures: Array(bytes[content.count...])))
    }

    /// Why answers that were accepted are unproved by these signers, keyed by `SignedAnswer.identity`.
    ///
    /// A key counts as it did when the answer came: an order does not end with the key that signed it. A
    /// signer who is removed from the list never was one.
    package static func disproofs(
        of answers: [Answer], by signers: AllowedSigners
    ) -> [[UInt8]: DocumentRefusal] {
        var refusals: [[UInt8]: DocumentRefusal] = [:]
        for answer in answers {
            guard let signed = answer.signed else { continue }
            do throws(SignatureRefusal) {
                let document = try SignedDocument(answer.body + signed.signatures)
                guard document.content == answer.body else { throw .trailingBytes }
                _ = try document.authors(among: signers, at: answer.fetchedAt)
                refusals[signed.identity] = nil
            } catch {
                refusals[signed.identity] = refusal(error)
            }
        }
        return refusals
    }

    /// Who has signed an answer that was accepted, by these signers at this time; nil if nobody.
    package static func authors(
        of answer: Answer, by signers: AllowedSigners, at time: Instant
    ) -> CountedSigners? {
        guard let signed = answer.signed else { return nil }
        return readable {
            try SignedDocument(answer.body + signed.signatures).authors(among: signers, at: time)
        }
    }

    /// The refusal in the words of the verdict; nil if nothing could be checked.
    private static func refusal(_ error: SignatureRefusal) -> DocumentRefusal? {
        let slug: Reason.Slug
        switch error {
        case .unsigned: slug = .unsigned
        case .trailingBytes: slug = .trailingBytes
        case .tooManySignatures: slug = .tooManySignatures
        case .malformed: slug = .malformedSignature
        case .namespace: slug = .otherNamespace
        case .digest: slug = .hashNotAccepted
        case .keyType: slug = .keyTypeNotAccepted
        case .unlisted: slug = .signerNotListed
        case .otherPurpose: slug = .signerForOtherNamespaces
        case .notYetValid: slug = .signerNotYetValid
        case .noLongerValid: slug = .signerNoLongerValid
        case .changedBytes: slug = .changedBytes
        case .untouched: slug = .securityKeyUntouched
        case .outOfMemory: return nil
        }
        return DocumentRefusal(slug, "\(error)")
    }
}
