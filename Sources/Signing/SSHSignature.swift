import CCrypto

/// One signature as `ssh-keygen -Y sign` writes it (OpenSSH's PROTOCOL.sshsig), read and not checked.
struct SSHSignature: Hashable, Sendable {
    /// The digest of the document that is signed.
    enum Digest: String, Hashable, Sendable {
        case sha256, sha512

        func callAsFunction(_ bytes: [UInt8]) -> [UInt8] {
            switch self {
            case .sha256: return SHA256.digest(of: bytes)
            case .sha512:
                var digest = [UInt8](repeating: 0, count: Int(SHA512_DIGEST_LENGTH))
                _ = unsafe SHA512(bytes, bytes.count, &digest)
                return digest
            }
        }
    }

    /// The public key that comes with it, in SSH's wire format. It is trusted only if a signer has it.
    let key: [UInt8]
    /// The type of that key, as it says itself.
    let keyType: String
    let digest: Digest
    /// The signature by that key, in SSH's wire format.
    let bytes: [UInt8]

    /// Reads the bytes between the armour. `number` counts the signatures of a document from 1.
    init(_ blob: [UInt8], number: Int) throws(SignatureRefusal) {
        let namespace: String
        let hash: String
        do throws(FormatProblem) {
            var reader = WireDecoder(blob)
            guard try reader.read(6, "the beginning 'SSHSIG'") == Self.magic else {
                throw FormatProblem("it does not begin with 'SSHSIG'")
            }
            let version = try reader.number("the version")
            guard version == 1 else { throw FormatProblem("it is of version \(version), not 1") }
            key = try reader.string("the key")
            var keyReader = WireDecoder(key)
            keyType = try keyReader.text("the type of the key")
            namespace = try reader.text("the namespace")
            guard try reader.string("the reserved field").isEmpty else {
                throw FormatProblem("its reserved field is not empty")
            }
            hash = try reader.text("the name of the hash")
            bytes = try reader.string("the signature")
            try reader.expectEnd(of: "the signature")
        } catch {
            throw .malformed(number, error.clause)
        }
        guard namespace == SignedDocument.namespace else { throw .namespace(namespace) }
        guard let digest = Digest(rawValue: hash) else { throw .digest(hash) }
        self.digest = digest
    }

    /// What the key has signed for a document with this digest.
    func message(for digest: [UInt8]) -> [UInt8] {
        Self.magic + Array(SignedDocument.namespace.utf8).asWireString + [UInt8]().asWireString
            + Array(self.digest.rawValue.utf8).asWireString + digest.asWireString
    }

    private static let magic = Array("SSHSIG".utf8)
}
