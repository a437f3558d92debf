/// One signature as `ssh-keygen -Y sign` writes it (OpenSSH's PROTOCOL.sshsig), read and not checked.
struct SSHSignature: Hashable, Sendable {
    /// The digest of the document that is signed.
    enum Digest: String, Hashable, Sendable {
        case sha256, sha512

        func callAsFunction(_ bytes: [UInt8]) -> [UInt8] {
            switch self {
            case .sha256: SHA256.digest(of: bytes)
            case .sha512: SHA512.digest(of: bytes)
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

    /// The purpose that a signature must be made for: `ssh-keygen -Y sign -n killswitchd`.
    static let namespace = "killswitchd"

    /// Reads the bytes between the armour. `number` counts the signatures of a document from 1.
    init(_ blob: [UInt8], number: Int) throws(SignatureRefusal) {
        let fields: Fields
        do throws(WireProblem) {
            fields = try Fields(blob)
        } catch {
            throw .malformed(number, error.clause)
        }
        guard fields.namespace == Self.namespace else { throw .namespace(fields.namespace) }
        guard let digest = Digest(rawValue: fields.digest) else { throw .digest(fields.digest) }
        self.digest = digest
        key = fields.key
        keyType = fields.keyType
        bytes = fields.signature
    }

    /// What the key has signed for a document with this digest.
    func message(for digest: [UInt8]) -> [UInt8] {
        Self.magic + Array(Self.namespace.utf8).asWireString + [UInt8]().asWireString
            + Array(self.digest.rawValue.utf8).asWireString + digest.asWireString
    }

    private static let magic = Array("SSHSIG".utf8)

    /// The fields of a signature.
    private struct Fields {
        let key: [UInt8]
        let keyType: String
        let namespace: String
        let digest: String
        let signature: [UInt8]

        init(_ blob: [UInt8]) throws(WireProblem) {
            var reader = WireDecoder(blob)
            guard try reader.read(6, "the beginning 'SSHSIG'") == magic else {
                throw WireProblem("it does not begin with 'SSHSIG'")
            }
            let version = try reader.number("the version")
            guard version == 1 else { throw WireProblem("it is of version \(version), not 1") }
            key = try reader.string("the key")
            var keyReader = WireDecoder(key)
            keyType = try keyReader.text("the type of the key")
            namespace = try reader.text("the namespace")
            guard try reader.string("the reserved field").isEmpty else {
                throw WireProblem("its reserved field is not empty")
            }
            digest = try reader.text("the name of the hash")
            signature = try reader.string("the signature")
            try reader.expectEnd(of: "the signature")
        }
    }
}
