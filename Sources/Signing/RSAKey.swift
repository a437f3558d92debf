import CCrypto

/// A private RSA key, which signs by RSASSA-PKCS1-v1_5 with SHA-256: `RS256` of RFC 7518 §3.3.
@safe
package final class RSAKey {
    private let key: OpaquePointer

    /// Reads a key in PEM: PKCS #8 or PKCS #1, not encrypted.
    package init(pem: [UInt8]) throws(SigningError) {
        guard let source = unsafe BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else {
            throw .outOfMemory
        }
        defer { unsafe BIO_free(source) }
        // An empty passphrase: without one OpenSSL would ask for it at the terminal, and wait.
        let read = unsafe "".withCString { passphrase in
            unsafe PEM_read_bio_PrivateKey(
                source, nil, nil, UnsafeMutableRawPointer(mutating: passphrase))
        }
        guard let key = unsafe read else { throw Self.forgetting(.unreadableKey) }
        guard unsafe EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA else {
            unsafe EVP_PKEY_free(key)
            throw .notRSA
        }
        unsafe self.key = key
    }

    deinit { unsafe EVP_PKEY_free(key) }

    /// The signature over these bytes.
    package func signature(over bytes: [UInt8]) throws(SigningError) -> [UInt8] {
        guard let context = unsafe EVP_MD_CTX_new() else { throw .outOfMemory }
        defer { unsafe EVP_MD_CTX_free(context) }
        var count = 0
        guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
            unsafe EVP_DigestSign(context, nil, &count, bytes, bytes.count) == 1
        else { throw Self.forgetting(.notSigned) }
        var signature = [UInt8](repeating: 0, count: count)
        guard unsafe EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1 else {
            throw Self.forgetting(.notSigned)
        }
        return Array(signature.prefix(count))
    }

    /// What libcrypto notes of an error stays in a queue that libcurl would take for its own.
    private static func forgetting(_ error: SigningError) -> SigningError {
        ERR_clear_error()
        return error
    }
}

/// Why nothing is signed.
package enum SigningError: Error, Hashable, Sendable, CustomStringConvertible {
    case outOfMemory
    case unreadableKey
    case notRSA
    case notSigned

    package var description: String {
        switch self {
        case .outOfMemory: "out of memory"
        case .unreadableKey: "it is no private key in PEM without a passphrase"
        case .notRSA: "it is no RSA key"
        case .notSigned: "libcrypto does not sign with it"
        }
    }
}
