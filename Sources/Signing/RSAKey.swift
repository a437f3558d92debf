import CCrypto

/// A private RSA key, which signs by RSASSA-PKCS1-v1_5 with SHA-256: `RS256` of RFC 7518 §3.3.
@safe
package final class RSAKey {
    private let key: OpaquePointer

    /// Reads a key in PEM: PKCS #8 or PKCS #1, not encrypted.
    package init(pem: [UInt8]) throws(SigningError) {
        var read: OpaquePointer?
        switch unsafe read_private_key(pem, pem.count, &read) {
        case PRIVATE_KEY_READ: break
        case PRIVATE_KEY_ENCRYPTED: throw .encryptedKey
        case PRIVATE_KEY_NO_MEMORY: throw .outOfMemory
        default: throw .unreadableKey
        }
        guard let key = unsafe read else { throw .unreadableKey }
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
        defer {
            unsafe EVP_MD_CTX_free(context)
            // libcurl would take an error in libcrypto's queue for its own.
            ERR_clear_error()
        }
        var count = Int(unsafe EVP_PKEY_get_size(key))
        var signature = [UInt8](repeating: 0, count: count)
        guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
            unsafe EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1
        else { throw .notSigned }
        return Array(signature.prefix(count))
    }
}

/// Why a key is not taken, or signs nothing.
package enum SigningError: String, Error, CustomStringConvertible {
    case outOfMemory = "out of memory"
    case unreadableKey = "it is not a private key in PEM, or only a part of one"
    case encryptedKey = "the private key is encrypted; write it without a passphrase"
    case notRSA = "it is not an RSA key"
    case notSigned = "libcrypto does not sign with it"

    package var description: String { rawValue }
}
