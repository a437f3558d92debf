package import CivilTime

/// A document and the signatures that follow it in one file: the bytes as they were signed, then one or
/// more blocks as `ssh-keygen -Y sign` writes them.
///
/// The document ends where the first block begins. JSON has no line feed within a string, so the first
/// line of a block is never a part of a JSON document.
package struct SignedDocument: Hashable, Sendable {
    /// The document as it was signed. Nothing is known of it before `authors` has checked it.
    package let content: [UInt8]
    private let signatures: [SSHSignature]

    /// The purpose that its signatures have to be made for: `ssh-keygen -Y sign -n killswitchd`.
    package static let namespace = "killswitchd"

    /// How many keys have signed it, whether they count or not. A key that signed twice is one.
    package var keyCount: Int { Set(signatures.map(\.key)).count }

    /// A document with more signatures is refused.
    package static let maximumSignatures = 16

    /// The bytes before the first signature; all bytes without one. Nothing is known of them.
    package static func content(of bytes: [UInt8]) -> [UInt8] {
        Armour.start(in: bytes).map { Array(bytes[..<$0]) } ?? bytes
    }

    /// Takes apart the bytes of a file, which need not be trusted.
    package init(_ bytes: [UInt8]) throws(SignatureRefusal) {
        guard let start = Armour.start(in: bytes) else { throw .unsigned }
        content = Array(bytes[..<start])
        var rest = bytes[start...]
        var signatures: [SSHSignature] = []
        while !rest.isEmpty {
            guard signatures.count < Self.maximumSignatures else { throw .tooManySignatures }
            let number = signatures.count + 1
            let blob = try Armour.read(from: &rest, number: number)
            signatures.append(try SSHSignature(blob, number: number))
        }
        self.signatures = signatures
    }

    /// The people who have signed it and are listed as signers at this time. Other signatures do not count, so
    /// that a new signer can sign before every host has the new list; one by a listed key over other bytes
    /// refuses the document. Throws if nobody is left.
    package func authors(among signers: AllowedSigners, at now: Instant) throws(SignatureRefusal)
        -> CountedSigners
    {
        var authors = CountedSigners()
        var digests: [SSHSignature.Digest: [UInt8]] = [:]
        for (signature, number) in zip(signatures, 1...) {
            let signer: SignerLine
            do throws(SignatureRefusal) {
                signer = try signers.signer(of: signature, at: now)
            } catch {
                if !authors.uncounted.contains(error) { authors.uncounted.append(error) }
                continue
            }
            let digest = digests[signature.digest] ?? signature.digest(content)
            digests[signature.digest] = digest
            try Self.check(signature, over: digest, signer.key, of: signer.person, number)
            if !authors.names.contains(signer.person) { authors.names.append(signer.person) }
        }
        if authors.names.isEmpty, let first = authors.uncounted.first { throw first }
        return authors
    }

    /// Throws if a signature is not over the content, by its own key. It says nothing of who has signed.
    package func checkOwnKeys() throws(SignatureRefusal) {
        for (signature, number) in zip(signatures, 1...) {
            guard SSHKey.Kind(rawValue: signature.keyType) != nil else {
                throw .keyType(signature.keyType)
            }
            let key: SSHKey
            do throws(FormatProblem) {
                key = try SSHKey(signature.key)
            } catch {
                throw .malformed(number, error.clause)
            }
            try Self.check(
                signature, over: signature.digest(content), key,
                of: SSHKey.fingerprintText(of: signature.key), number)
        }
    }

    private static func check(
        _ signature: SSHSignature, over digest: [UInt8], _ key: SSHKey, of person: String,
        _ number: Int
    ) throws(SignatureRefusal) {
        let check: SSHKey.Check
        do throws(FormatProblem) {
            check = try key.check(signature.bytes, over: signature.message(for: digest))
        } catch {
            throw .malformed(number, error.clause)
        }
        switch check {
        case .valid: break
        case .wrong: throw .changedBytes(person)
        case .untouched: throw .untouched(person)
        case .outOfMemory: throw .outOfMemory
        }
    }
}

/// The people who have signed a document.
package struct CountedSigners: Hashable, Sendable {
    /// One name for each person, in the order of their signatures.
    package fileprivate(set) var names: [String] = []
    /// Why each of the other signatures does not count.
    package fileprivate(set) var uncounted: [SignatureRefusal] = []
}

/// The text form of a signature (PROTOCOL.sshsig): base64 between two lines.
private enum Armour {
    static let first = Array("-----BEGIN SSH SIGNATURE-----\n".utf8)
    static let last = Array("-----END SSH SIGNATURE-----".utf8)

    /// The longest text of a block. One by RSA with 16,384 bits, which is not accepted, has 6 KiB.
    static let limit = 16 << 10

    /// The first place where a block begins; nil without one.
    static func start(in bytes: [UInt8]) -> Int? {
        var index = 0
        while let dash = bytes[index...].firstIndex(of: UInt8(ascii: "-")) {
            if bytes[dash...].starts(with: first) { return dash }
            index = dash + 1
        }
        return nil
    }

    /// Takes one block; returns the bytes that it holds.
    static func read(from rest: inout ArraySlice<UInt8>, number: Int) throws(SignatureRefusal)
        -> [UInt8]
    {
        guard rest.starts(with: first) else { throw .trailingBytes }
        rest.removeFirst(first.count)
        var text: [UInt8] = []
        while !rest.starts(with: last) {
            guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else {
                throw .malformed(number, "its last line is missing")
            }
            text += rest[..<end]
            guard text.count <= limit else {
                throw .malformed(number, "it has more than \(limit >> 10) KiB")
            }
            rest = rest[(end + 1)...]
        }
        rest.removeFirst(last.count)
        // The last line of a file may lack its line feed.
        guard rest.isEmpty || rest.first == UInt8(ascii: "\n") else { throw .trailingBytes }
        rest = rest.dropFirst()
        guard let bytes = Base64.bytes(of: String(decoding: text, as: UTF8.self)) else {
            throw .malformed(number, "it is not base64")
        }
        return bytes
    }
}
