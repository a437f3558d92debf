import CCrypto

/// Base64 with padding (RFC 4648 §4), by libcrypto.
package enum Base64 {
    /// The base64 of these bytes.
    package static func text(of bytes: some Collection<UInt8>) -> String {
        let bytes = Array(bytes)
        var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
        let count = unsafe EVP_EncodeBlock(&text, bytes, Int32(clamping: bytes.count))
        return String(decoding: text.prefix(Int(count)), as: UTF8.self)
    }

    /// The bytes of a base64 text; nil for white space, another alphabet or bits that are left over.
    package static func bytes(of text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        var bytes = [UInt8](repeating: 0, count: digits.count / 4 * 3)
        guard unsafe EVP_DecodeBlock(&bytes, digits, Int32(clamping: digits.count)) >= 0 else {
            return nil
        }
        // libcrypto decodes the padding as zeros, and skips white space around the text.
        bytes.removeLast(digits.suffix(2).count { $0 == UInt8(ascii: "=") })
        return self.text(of: bytes).utf8.elementsEqual(digits) ? bytes : nil
    }
}

/// base64url without padding (RFC 4648 §5), as JSON Web Tokens have it (RFC 7515 §2).
package enum Base64URL {
    /// The bytes as text.
    package static func text(of bytes: some Collection<UInt8>) -> String {
        let digits = Base64.text(of: bytes).utf8.prefix { $0 != UInt8(ascii: "=") }
        return String(
            decoding: digits.map { digit in
                switch digit {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                default: digit
                }
            }, as: UTF8.self)
    }
}
