import CCrypto

/// A public key whose signatures are accepted, from SSH's wire format.
package struct SSHKey: Hashable, Sendable {
    /// The kinds of keys that are accepted, by their names in SSH.
    package enum Kind: String, CaseIterable, Sendable {
        case ed25519 = "ssh-ed25519"
        /// Ed25519, and ECDSA below, in a security key of FIDO (OpenSSH's PROTOCOL.u2f).
        case ed25519InSecurityKey = "sk-ssh-ed25519@openssh.com"
        case ecdsa = "ecdsa-sha2-nistp256"
        case ecdsaInSecurityKey = "sk-ecdsa-sha2-nistp256@openssh.com"

        fileprivate var isECDSA: Bool { self == .ecdsa || self == .ecdsaInSecurityKey }

        /// Whether a device signs, which says what it has signed for and whether somebody touched it.
        fileprivate var isInSecurityKey: Bool {
            self == .ed25519InSecurityKey || self == .ecdsaInSecurityKey
        }

        /// The names of all kinds, for messages.
        static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }
    }

    package let kind: Kind
    /// The key in SSH's wire format: two keys are the same if these bytes are.
    let bytes: [UInt8]
    /// The key as a SubjectPublicKeyInfo in DER, which libcrypto reads.
    private let subject: [UInt8]
    /// What a security key signs for, such as `ssh:`; empty for the other kinds.
    private let application: [UInt8]

    /// Reads a key, which need not be trusted.
    init(_ bytes: [UInt8]) throws(FormatProblem) {
        var reader = WireDecoder(bytes)
        let type = try reader.text("the type of the key")
        guard let kind = Kind(rawValue: type) else {
            throw FormatProblem("keys of the type '\(type.excerpt)' are not accepted")
        }
        if kind.isECDSA {
            guard try reader.text("the name of the curve") == "nistp256" else {
                throw FormatProblem("the key is on another curve than nistp256")
            }
            let point = try reader.string("the key")
            guard point.count == 65, point.first == 4 else {
                throw FormatProblem("the key is not an uncompressed point of 65 bytes")
            }
            subject = Self.ecdsaPrefix + point
        } else {
            let point = try reader.string("the key")
            guard point.count == 32 else { throw FormatProblem("the key is not of 32 bytes") }
            subject = Self.ed25519Prefix + point
        }
        application = kind.isInSecurityKey ? try reader.string("the application") : []
        try reader.expectEnd(of: "the key")
        guard unsafe is_public_key(subject, subject.count) == 1 else {
            throw FormatProblem("the key is not a point of its curve")
        }
        self.kind = kind
        self.bytes = bytes
    }

    /// A SubjectPublicKeyInfo up to the key: Ed25519 (RFC 8410 §4), and ECDSA on P-256 (RFC 5480 §2).
    private static let ed25519Prefix: [UInt8] = [
        0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
    ]
    private static let ecdsaPrefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08,
        0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]

    /// What the check of a signature has found.
    enum Check: Hashable {
        case valid
        /// The key did not sign these bytes.
        case wrong
        /// The security key did, and nobody touched it.
        case untouched
        case outOfMemory
    }

    /// Checks a signature in SSH's wire format over a message. Throws for bytes that are none of this kind.
    func check(_ signature: [UInt8], over message: [UInt8]) throws(FormatProblem) -> Check {
        var reader = WireDecoder(signature)
        let type = try reader.text("the type of the signature")
        guard type == kind.rawValue else {
            throw FormatProblem(
                "it is of the type '\(type.excerpt)', and its key '\(kind.rawValue)'")
        }
        var value = try reader.string("the signature")
        guard kind.isECDSA || value.count == 64 else {
            throw FormatProblem("the signature is not of 64 bytes")
        }
        if kind.isECDSA { value = try Self.der(value) }
        guard kind.isInSecurityKey else {
            try reader.expectEnd(of: "the signature")
            return verify(value, over: message)
        }
        let flags = try reader.read(1, "the flags")
        let counter = try reader.read(4, "the counter")
        try reader.expectEnd(of: "the signature")
        let signed = SHA256.digest(of: application) + flags + counter + SHA256.digest(of: message)
        let check = verify(value, over: signed)
        let isTouched = flags.contains { $0 & Self.userPresence != 0 }
        return check == .valid && !isTouched ? .untouched : check
    }

    /// The bit of a security key's flags that says that somebody touched it.
    private static let userPresence: UInt8 = 1

    private func verify(_ signature: [UInt8], over message: [UInt8]) -> Check {
        let digest = unsafe kind.isECDSA ? EVP_sha256() : nil
        let result = unsafe verify_signature(
            subject, subject.count, digest, signature, signature.count, message, message.count)
        return switch result {
        case SIGNATURE_VALID: .valid
        case SIGNATURE_NO_MEMORY: .outOfMemory
        default: .wrong
        }
    }

    /// An ECDSA signature in DER (RFC 3279 §2.2.3), from the two numbers of RFC 5656 §3.1.2. An mpint has
    /// the bytes of an INTEGER. On P-256 it has at most 33, so that every length takes one byte.
    private static func der(_ signature: [UInt8]) throws(FormatProblem) -> [UInt8] {
        var reader = WireDecoder(signature)
        var numbers: [UInt8] = []
        for name in ["the number r", "the number s"] {
            let number = try reader.string(name)
            guard let first = number.first, number.count <= 33, first < 0x80 else {
                throw FormatProblem("\(name) is out of its range")
            }
            guard first != 0 || number.dropFirst().first ?? 0 >= 0x80 else {
                throw FormatProblem("\(name) is longer than it must be")
            }
            numbers += [0x02, UInt8(number.count)] + number
        }
        try reader.expectEnd(of: "the numbers r and s")
        return [0x30, UInt8(numbers.count)] + numbers
    }

    /// The fingerprint of a key in SSH's wire format, as `ssh-keygen -l` shows it.
    static func fingerprintText(of bytes: [UInt8]) -> String {
        let text = Base64.text(of: SHA256.digest(of: bytes))
        return "SHA256:" + text.prefix { $0 != "=" }
    }
}

extension String {
    /// At most the first 64 characters, for a quotation in a message.
    var excerpt: String {
        let scalars = unicodeScalars.prefix(64)
        let cut = scalars.endIndex < unicodeScalars.endIndex ? "…" : ""
        return String(String.UnicodeScalarView(scalars)) + cut
    }
}
