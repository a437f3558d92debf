import Files
import Signing
import Support
import Testing

/// RS256 signatures, verified by the program openssl.
@Suite(.timeLimit(.minutes(5))) struct RSAKeyTests {
    private static let rsa = ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]

    private func make(_ arguments: [String] = rsa) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let made = try Program.run(
            "/usr/bin/openssl", ["genpkey", "-out", folder("key.pem")] + arguments)
        try #require(made.status == 0, "\(made.errors)")
        return folder
    }

    private func key(in folder: TemporaryFolder) throws -> RSAKey {
        try RSAKey(pem: try File.read(folder("key.pem"), limit: 1 << 16))
    }

    @Test(arguments: ["", "eyJhbGciOiJSUzI1NiJ9.e30", String(repeating: "x", count: 100_000)])
    func opensslAcceptsWhatIsSigned(text: String) throws {
        let folder = try make()
        let signature = try key(in: folder).signature(over: Array(text.utf8))
        #expect(signature.count == 256)
        try folder.write(text, to: "text")
        try File.replace(folder("signature"), with: signature)
        let verified = try Program.run(
            "/usr/bin/openssl",
            [
                "dgst", "-sha256", "-prverify", folder("key.pem"), "-signature",
                folder("signature"), folder("text"),
            ])
        #expect(verified.output == "Verified OK\n")
    }

    @Test func aKeyInTheOlderFormIsReadToo() throws {
        let folder = try make()
        let written = try Program.run(
            "/usr/bin/openssl",
            ["rsa", "-in", folder("key.pem"), "-traditional", "-out", folder("key.pem")])
        try #require(written.status == 0)
        #expect(try folder.text(of: "key.pem").hasPrefix("-----BEGIN RSA PRIVATE KEY"))
        #expect(try key(in: folder).signature(over: []).count == 256)
    }

    @Test func anotherKindOfKeyIsRefused() throws {
        let folder = try make(["-algorithm", "ED25519"])
        #expect(throws: SigningError.notRSA) { try key(in: folder) }
    }

    /// libcrypto must not ask for the passphrase at a terminal.
    @Test func anEncryptedKeyIsRefusedAtOnce() throws {
        let folder = try make(Self.rsa + ["-aes256", "-pass", "pass:secret"])
        #expect(throws: SigningError.encryptedKey) { try key(in: folder) }
    }

    @Test(arguments: [
        "", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "\0\0\0",
    ])
    func whatIsNoKeyIsRefused(text: String) {
        #expect(throws: SigningError.unreadableKey) { try RSAKey(pem: Array(text.utf8)) }
    }
}

/// The vectors of RFC 4648 §10, and texts that are not base64.
@Suite struct Base64Tests {
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"), ("svc/", "c3ZjLw=="),
    ])
    func bytesAreEncodedAndDecoded(_ plain: String, _ text: String) {
        #expect(Base64.text(of: plain.utf8) == text)
        #expect(Base64.bytes(of: text) == Array(plain.utf8))
        #expect(Base64URL.text(of: plain.utf8) == text.prefix { $0 != "=" })
    }

    /// The two letters of base64url (RFC 4648 §5).
    @Test(arguments: [("~~~", "fn5-"), ("???", "Pz8_")])
    func base64URLHasOtherLetters(plain: String, text: String) {
        #expect(Base64URL.text(of: plain.utf8) == text)
    }

    @Test func allBytesComeBack() {
        for count in 0..<5 {
            let bytes = (UInt8.min...UInt8.max).flatMap { Array(repeating: $0, count: count + 1) }
            #expect(
                Base64.bytes(of: Base64.text(of: bytes.dropLast(count))) == bytes.dropLast(count))
        }
    }

    @Test(arguments: [
        "Zg", "Zg=", "Zg===", "Z===", "====", "Zg==Zg==", "Zm9v\n", "Zm9v ", "Zm-_", "Zh==", "Zm9=",
        "Zm9vé", "=Zg=",
    ])
    func anyOtherTextIsRejected(_ text: String) {
        #expect(Base64.bytes(of: text) == nil)
    }
}

/// The examples of FIPS 180-4.
@Test func theExamplesOfTheStandardGiveTheirDigests() {
    #expect(
        SHA256.hexadecimal(of: [])
            == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(
        SHA256.hexadecimal(of: Array("abc".utf8))
            == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
}
