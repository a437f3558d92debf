import CivilTime
import Files
import Signing
import Support
import Testing

/// Documents that Debian's `ssh-keygen -Y sign` has signed, and what is refused of them.
@Suite(.timeLimit(.minutes(5))) struct SignedDocumentTests {
    private let folder: TemporaryFolder
    private let text = #"{"state":"ended","version":7}"# + "\n"

    init() throws { folder = try TemporaryFolder() }

    /// 2027-01-15T08:00:00Z.
    private let now = Instant(seconds: 1_800_000_000)

    private func signers(_ lines: String...) throws -> AllowedSigners {
        try AllowedSigners(Array(lines.joined(separator: "\n").utf8), zone: .utc)
    }

    private func key(_ type: String, _ name: String) throws -> SigningKey {
        try SigningKey(type, in: folder, name: name)
    }

    /// A key, and a list with it alone.
    private func alice(
        _ type: String = "ed25519"
    ) throws -> (key: SigningKey, signers: AllowedSigners) {
        let key = try key(type, type)
        return (key, try signers("alice \(try key.publicText)"))
    }

    private func authors(_ text: String, among signers: AllowedSigners) throws -> [String] {
        try SignedDocument(Array(text.utf8)).authors(among: signers, at: now).names
    }

    private func refusal(of text: String, among signers: AllowedSigners) throws -> SignatureRefusal?
    {
        do {
            _ = try authors(text, among: signers)
            return nil
        } catch let refusal as SignatureRefusal {
            return refusal
        }
    }

    // MARK: - Accepted

    @Test(arguments: ["ed25519", "ecdsa"], ["sha256", "sha512"])
    func aDocumentThatSSHKeygenSignedHasItsAuthor(type: String, hash: String) throws {
        let (key, signers) = try alice(type)
        for text in [text, "", "no line feed at the end", String(repeating: "-", count: 100_000)] {
            let signed = text + (try key.sign(text, hash: hash))
            #expect(try authors(signed, among: signers) == ["alice"])
            #expect(try SignedDocument(Array(signed.utf8)).content == Array(text.utf8))
        }
    }

    /// ssh-keygen itself shows that the software key of this test signs as an authenticator does.
    @Test(arguments: SoftwareSecurityKey.Kind.allCases)
    func aDocumentThatASecurityKeySignedHasItsAuthor(kind: SoftwareSecurityKey.Kind) throws {
        let key = try SoftwareSecurityKey(kind, in: folder)
        let signature = try key.sign(text)
        #expect(
            try authors(text + signature, among: try signers("alice \(key.publicText)"))
                == ["alice"])
        try folder.write("alice \(key.publicText)\n", to: "allowed")
        try folder.write(signature, to: "text.sig")
        try folder.write(text, to: "text")
        let verified = try Program.run(
            "/bin/sh",
            [
                "-c",
                "cd \(folder.path) && "
                    + "ssh-keygen -Y verify -f allowed -I alice -n killswitchd -s text.sig < text",
            ])
        #expect(verified.status == 0, "\(verified.errors)")
    }

    @Test func twoPeopleAreTwoAuthorsInTheOrderOfTheirSignatures() throws {
        let (alice, bob) = (try key("ed25519", "a"), try key("ecdsa", "b"))
        let signers = try signers("alice \(try alice.publicText)", "bob \(try bob.publicText)")
        #expect(
            try authors(text + bob.sign(text) + alice.sign(text), among: signers)
                == ["bob", "alice"])
    }

    @Test func onePersonWithTwoKeysOrTwoNamesIsOneAuthor() throws {
        let keys = try ["a", "b", "c"].map { try SigningKey("ed25519", in: folder, name: $0) }
        let texts = try keys.map { try $0.publicText }
        let signers = try signers(
            "alice \(texts[0])", "operations,on-call \(texts[1])", "on-call \(texts[2])",
            "alice@example.com \(texts[2])", "alice,alice@example.com \(texts[0])")
        let signed = try text + keys.map { try $0.sign(text) }.joined()
        #expect(try authors(signed, among: signers) == ["alice"])
        #expect(try authors(signed + keys[0].sign(text), among: signers) == ["alice"])
    }

    @Test func aSignatureOfSomebodyWhoIsNotListedDoesNotCountBesideOthers() throws {
        let (alice, other) = (try key("ed25519", "a"), try key("rsa", "b"))
        let document = try SignedDocument(Array((text + other.sign(text) + alice.sign(text)).utf8))
        let authors = try document.authors(among: signers("alice \(try alice.publicText)"), at: now)
        #expect(authors.names == ["alice"])
        #expect(authors.uncounted == [.keyType("ssh-rsa")])
    }

    // MARK: - Refused

    @Test(arguments: ["", "{}", "-----BEGIN SSH SIGNATURE-----", "\u{FEFF}{}\n"])
    func aDocumentWithoutASignatureIsRefused(text: String) {
        #expect(throws: SignatureRefusal.unsigned) { try SignedDocument(Array(text.utf8)) }
    }

    @Test func changedBytesAreRefused() throws {
        let (key, signers) = try alice()
        let signature = try key.sign(text)
        for changed in [text.replacing("7", with: "8"), text + " ", String(text.dropLast()), ""] {
            #expect(try refusal(of: changed + signature, among: signers) == .changedBytes("alice"))
        }
    }

    @Test func oneChangedByteOfASignatureIsRefused() throws {
        for type in ["ed25519", "ecdsa"] {
            let (key, signers) = try alice(type)
            let signature = try key.sign(text)
            let base64 = signature.split(separator: "\n").dropFirst().dropLast().joined()
            let bytes = try #require(Base64.bytes(of: base64))
            #expect(try refusal(of: text + armour(bytes), among: signers) == nil)
            for index in bytes.indices {
                var changed = bytes
                changed[index] ^= 1
                #expect(try refusal(of: text + armour(changed), among: signers) != nil)
                #expect(
                    try refusal(of: text + armour(Array(bytes[..<index])), among: signers) != nil)
            }
        }
    }

    @Test func anotherNamespaceIsRefused() throws {
        let (key, signers) = try alice()
        let signed = try text + key.sign(text, namespace: "git")
        #expect(try refusal(of: signed, among: signers) == .namespace("git"))
    }

    @Test func aKeyOfAnotherTypeIsRefused() throws {
        let (listed, key) = (try key("ed25519", "a"), try key("rsa", "b"))
        #expect(
            try refusal(of: text + key.sign(text), among: signers("alice \(try listed.publicText)"))
                == .keyType("ssh-rsa"))
    }

    @Test func aSignerWhoIsNotListedIsRefusedWithTheFingerprint() throws {
        let (listed, key) = (try key("ed25519", "a"), try key("ed25519", "b"))
        let shown = try Program.run("/usr/bin/ssh-keygen", ["-l", "-f", folder("b.pub")]).output
        let fingerprint = try #require(shown.split(separator: " ").dropFirst().first)
        #expect(
            try refusal(of: text + key.sign(text), among: signers("alice \(try listed.publicText)"))
                == .unlisted(String(fingerprint)))
    }

    @Test(
        arguments: [
            ("valid-after=\"20270115080001Z\"", SignatureRefusal.notYetValid("alice")),
            ("valid-after=\"20270115080000Z\"", nil),
            ("valid-before=\"20270115080000Z\"", nil),
            ("valid-before=\"20270115075959Z\"", .noLongerValid("alice")),
            ("valid-before=\"20270115\"", .noLongerValid("alice")),
            ("namespaces=\"git,file\"", .otherPurpose("alice")),
            ("namespaces=\"git,kill*\",valid-before=\"202801010000Z\"", nil),
            ("namespaces=\"*,!killswitch?\"", .otherPurpose("alice")),
        ] as [(String, SignatureRefusal?)])
    func theOptionsOfASignerHold(options: String, expected: SignatureRefusal?) throws {
        let key = try SigningKey("ed25519", in: folder)
        let signers = try signers("alice \(options) \(try key.publicText) a comment")
        #expect(try refusal(of: text + key.sign(text), among: signers) == expected)
    }

    /// A rotation by dates: the same key in two lines, of which one is valid.
    @Test func oneValidLineOfAKeyIsEnough() throws {
        let key = try SigningKey("ed25519", in: folder)
        let signers = try signers(
            "alice valid-before=\"202001010000Z\" \(try key.publicText)",
            "alice valid-after=\"20260101\" \(try key.publicText)")
        #expect(try authors(text + key.sign(text), among: signers) == ["alice"])
    }

    @Test(arguments: SoftwareSecurityKey.Kind.allCases)
    func aSecurityKeyThatNobodyTouchedIsRefused(kind: SoftwareSecurityKey.Kind) throws {
        let key = try SoftwareSecurityKey(kind, in: folder)
        let signers = try signers("alice \(key.publicText)")
        #expect(
            try refusal(of: text + key.sign(text, flags: 4), among: signers) == .untouched("alice"))
        #expect(try refusal(of: text + key.sign(text, flags: 5), among: signers) == nil)
        #expect(
            try refusal(of: text + "x" + key.sign(text, flags: 4), among: signers)
                == .changedBytes("alice"))
    }

    @Test(arguments: ["\n", " ", "{}", "\0", "-----BEGIN SSH SIGNATURE-----"])
    func bytesAfterASignatureAreRefused(rest: String) throws {
        let (key, signers) = try alice()
        let signature = try key.sign(text)
        for end in [rest, rest + signature] {
            #expect(try refusal(of: text + signature + end, among: signers) == .trailingBytes)
        }
    }

    @Test func theLastLineFeedMayBeMissing() throws {
        let (key, signers) = try alice()
        #expect(try authors(text + key.sign(text).dropLast(), among: signers) == ["alice"])
    }

    @Test func moreThanSixteenSignaturesAreRefused() throws {
        let (key, signers) = try alice()
        let signature = try key.sign(text)
        let sixteen = text + String(repeating: signature, count: 16)
        #expect(try authors(sixteen, among: signers) == ["alice"])
        #expect(try refusal(of: sixteen + signature, among: signers) == .tooManySignatures)
    }

    @Test(arguments: [
        ("", "the beginning 'SSHSIG' is cut short"), ("SSHSIX", "it does not begin with 'SSHSIG'"),
        ("SSHSIG\0\0\0\u{2}", "it is of version 2, not 1"),
        ("SSHSIG\0\0\0\u{1}", "the key is cut short"),
        ("SSHSIG\0\0\0\u{1}\u{7F}\u{7F}\u{7F}\u{7F}", "the key is cut short"),
    ])
    func aSignatureThatCannotBeReadIsRefused(bytes: String, clause: String) {
        #expect(throws: SignatureRefusal.malformed(1, clause)) {
            try SignedDocument(Array((text + armour(Array(bytes.utf8))).utf8))
        }
    }

    /// Why a document with these signatures cannot be taken apart.
    private func refusal(_ signatures: String) -> SignatureRefusal? {
        do throws(SignatureRefusal) {
            _ = try SignedDocument(Array((text + signatures).utf8))
            return nil
        } catch {
            return error
        }
    }

    @Test func anArmourThatCannotBeReadIsRefused() {
        let first = "-----BEGIN SSH SIGNATURE-----\n"
        #expect(refusal(first) == .malformed(1, "its last line is missing"))
        #expect(refusal(first + "AAAA") == .malformed(1, "its last line is missing"))
        #expect(refusal(armour(text: "AAA")) == .malformed(1, "it is not base64"))
        #expect(refusal(armour(text: "A AAA AA")) == .malformed(1, "it is not base64"))
        #expect(
            refusal(armour(text: String(repeating: "A", count: 20_000)))
                == .malformed(1, "it has more than 16 KiB"))
    }

    @Test func otherFieldsThanThoseOfTheProtocolAreRefused() {
        let key = wire("ssh-ed25519") + wire([UInt8](repeating: 1, count: 32))
        let signature = wire("ssh-ed25519") + wire([UInt8](repeating: 1, count: 64))
        func refusal(_ bytes: [UInt8]) -> SignatureRefusal? { self.refusal(armour(bytes)) }
        #expect(refusal(blob(key: key, hash: "sha256", signature: signature)) == nil)
        #expect(refusal(blob(key: key, hash: "sha1", signature: signature)) == .digest("sha1"))
        #expect(
            refusal(blob(key: key, namespace: "", hash: "sha256", signature: signature))
                == .namespace(""))
        #expect(
            refusal(blob(key: key, reserved: "x", hash: "sha256", signature: signature))
                == .malformed(1, "its reserved field is not empty"))
        #expect(
            refusal(blob(key: key, hash: "sha256", signature: signature) + [0])
                == .malformed(1, "bytes follow the signature"))
    }
}
