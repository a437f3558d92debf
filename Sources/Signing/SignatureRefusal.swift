/// Why a signed document, or one of its signatures, is refused.
package enum SignatureRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    case unsigned
    case trailingBytes
    case tooManySignatures
    /// The signature of this number, counted from 1, cannot be read: a clause says why.
    case malformed(Int, String)
    /// It was made for another purpose.
    case namespace(String)
    /// The document's digest is by another algorithm.
    case digest(String)
    /// The key is of another type.
    case keyType(String)
    /// Nobody is listed with the key of this fingerprint.
    case unlisted(String)
    /// The signer is listed for other purposes only.
    case otherPurpose(String)
    case notYetValid(String)
    case noLongerValid(String)
    /// The signer's key did not sign these bytes.
    case changedBytes(String)
    /// Nobody touched the signer's security key.
    case untouched(String)
    case outOfMemory

    /// One clause, lower case, about the document ("it").
    package var description: String {
        switch self {
        case .unsigned: "it is not signed"
        case .trailingBytes: "other bytes than signatures follow the document"
        case .tooManySignatures: "it has more than \(SignedDocument.maximumSignatures) signatures"
        case .malformed(let number, let clause): "signature \(number) cannot be read: \(clause)"
        case .namespace(let name):
            "it is signed for the namespace '\(name.excerpt)', not '\(SignedDocument.namespace)'"
        case .digest(let name):
            "it is signed by the hash '\(name.excerpt)', not by sha256 or sha512"
        case .keyType(let type):
            "it is signed by a key of the type '\(type.excerpt)', and accepted are "
                + SSHKey.Kind.list
        case .unlisted(let fingerprint):
            "it is signed with key \(fingerprint), which no listed signer has"
        case .otherPurpose(let signer):
            "'\(signer)' signed it, and may not sign for the namespace "
                + "'\(SignedDocument.namespace)'"
        case .notYetValid(let signer): "'\(signer)' signed it with a key that is not valid yet"
        case .noLongerValid(let signer): "'\(signer)' signed it with a key that is no longer valid"
        case .changedBytes(let signer): "its content has changed since '\(signer)' signed it"
        case .untouched(let signer): "the security key of '\(signer)' signed it without a touch"
        case .outOfMemory: "its signatures cannot be checked: out of memory"
        }
    }
}
