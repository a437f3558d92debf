import Signing
import Testing

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
