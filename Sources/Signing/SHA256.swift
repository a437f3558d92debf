import CCrypto

/// The digest SHA-256 (FIPS 180-4), by libcrypto, which libcurl has loaded anyway.
package enum SHA256 {
    /// The 32 bytes of the digest.
    package static func digest(of bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        _ = unsafe CCrypto.SHA256(bytes, bytes.count, &digest)
        return digest
    }

    /// The digest of the bytes, 64 hexadecimal digits in lower case.
    package static func hexadecimal(of bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let text = digest(of: bytes).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }
}
