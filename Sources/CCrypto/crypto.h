/*
 * libcrypto as Swift sees it: the digests, private keys that sign, and public keys that verify.
 *
 * A memory BIO keeps the pointer that it is given until it is freed. Swift lends the memory of an
 * array for one call only, so the BIO is made, read and freed inside one call here.
 */
#include <limits.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

/* Why there is no private key. */
enum private_key_result {
    PRIVATE_KEY_READ,
    PRIVATE_KEY_UNREADABLE,
    PRIVATE_KEY_ENCRYPTED,
    PRIVATE_KEY_NO_MEMORY,
};

/*
 * The pem_password_cb of libcrypto: notes that a passphrase is asked for, and gives none. Without a
 * callback libcrypto would ask for it at the terminal, and wait.
 */
static inline int refuse_passphrase(char *buffer, int size, int writes, void *asked) {
    (void)buffer, (void)size, (void)writes;
    *(int *)asked = 1;
    return -1;
}

/*
 * Reads a private key of any kind in PEM, PKCS #8 or the older form of its kind. The caller frees
 * *key with EVP_PKEY_free; it is null unless the result is PRIVATE_KEY_READ. The bytes are not kept,
 * and libcrypto's queue of errors is empty afterwards: libcurl would take an error in it for its own.
 */
static inline enum private_key_result read_private_key(
    const void *bytes, size_t count, EVP_PKEY **key) {
    int asked = 0;
    *key = NULL;
    if (count == 0 || count > INT_MAX) return PRIVATE_KEY_UNREADABLE;
    BIO *source = BIO_new_mem_buf(bytes, (int)count);
    if (source != NULL) {
        *key = PEM_read_bio_PrivateKey(source, NULL, refuse_passphrase, &asked);
        BIO_free(source);
    }
    ERR_clear_error();
    if (*key != NULL) return PRIVATE_KEY_READ;
    if (source == NULL) return PRIVATE_KEY_NO_MEMORY;
    return asked ? PRIVATE_KEY_ENCRYPTED : PRIVATE_KEY_UNREADABLE;
}

/* Whether this is a public key that libcrypto can use, as a SubjectPublicKeyInfo in DER (RFC 5280). */
static inline int is_public_key(const unsigned char *bytes, long count) {
    EVP_PKEY *key = d2i_PUBKEY(NULL, &bytes, count);
    int is_key = key != NULL;
    EVP_PKEY_free(key);
    ERR_clear_error();
    return is_key;
}

/* What came of the check of a signature. */
enum signature_result {
    SIGNATURE_VALID,
    SIGNATURE_INVALID,
    SIGNATURE_NO_MEMORY,
};

/*
 * Checks a signature over a message by a public key (SubjectPublicKeyInfo in DER). `digest` is null for
 * Ed25519, which has its own. libcrypto's queue of errors is empty afterwards, as above.
 */
static inline enum signature_result verify_signature(
    const unsigned char *key, long key_count, const EVP_MD *digest, const unsigned char *signature,
    size_t signature_count, const unsigned char *message, size_t message_count) {
    enum signature_result result = SIGNATURE_NO_MEMORY;
    EVP_PKEY *public_key = d2i_PUBKEY(NULL, &key, key_count);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (public_key != NULL && context != NULL &&
        EVP_DigestVerifyInit(context, NULL, digest, NULL, public_key) == 1) {
        int is_valid =
            EVP_DigestVerify(context, signature, signature_count, message, message_count) == 1;
        result = is_valid ? SIGNATURE_VALID : SIGNATURE_INVALID;
    }
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(public_key);
    ERR_clear_error();
    return result;
}
