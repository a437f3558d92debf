/*
 * libcrypto as Swift sees it: the digest, and private keys that sign.
 *
 * A memory BIO keeps the pointer that it is given until it is freed. Swift lends the memory of an
 * array for one call only, so the BIO is made, read and freed inside one call here.
 */
#include <limits.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/sha.h>

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
