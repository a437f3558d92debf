/* libcrypto as Swift sees it: the digest. */
#include <openssl/sha.h>
