/*
 * libcurl as Swift sees it. curl_easy_setopt and its like are variadic, which Swift cannot call:
 * each kind of argument that we pass has a function of its own here.
 */
#include <curl/curl.h>

static inline CURLcode curl_easy_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

/* libcurl copies the text. */
static inline CURLcode curl_easy_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

/* libcurl keeps the pointer. */
static inline CURLcode curl_easy_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

/* libcurl keeps the parsed URL; null takes it away. */
static inline CURLcode curl_easy_set_url(CURL *easy, CURLU *url) {
    return curl_easy_setopt(easy, CURLOPT_CURLU, url);
}

static inline CURLcode curl_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *list) {
    return curl_easy_setopt(easy, option, list);
}

/* libcurl copies the bytes. */
static inline CURLcode curl_easy_set_bytes(
    CURL *easy, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
    return curl_easy_setopt(easy, option, &blob);
}

/* A request of method POST with this body, which libcurl copies. */
static inline CURLcode curl_easy_set_post(CURL *easy, const void *bytes, long count) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, count);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, bytes) : code;
}

/* For CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION. */
static inline CURLcode curl_easy_set_receiver(
    CURL *easy, CURLoption option, size_t (*receive)(char *, size_t, size_t, void *)) {
    return curl_easy_setopt(easy, option, receive);
}

static inline CURLcode curl_easy_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

/* For texts and for CURLINFO_PRIVATE. */
static inline CURLcode curl_easy_get_text(CURL *easy, CURLINFO info, char **value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLMcode curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode curl_multi_set_pointer(CURLM *multi, CURLMoption option, void *value) {
    return curl_multi_setopt(multi, option, value);
}

/* Null takes the callback away. */
static inline CURLMcode curl_multi_set_socket_function(
    CURLM *multi, int (*watch)(CURL *, curl_socket_t, int, void *, void *)) {
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch);
}

/* Null takes the callback away. */
static inline CURLMcode curl_multi_set_timer_function(
    CURLM *multi, int (*schedule)(CURLM *, long, void *)) {
    return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, schedule);
}

/* A finished transfer: CURLMsg holds a union, of which this is the part that is used. */
struct curl_finished {
    CURL *easy; /* null where nothing has finished */
    CURLcode code;
};

static inline struct curl_finished curl_multi_next_finished(CURLM *multi) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        if (message->msg == CURLMSG_DONE) {
            struct curl_finished finished = {message->easy_handle, message->data.result};
            return finished;
        }
    }
    struct curl_finished nothing = {NULL, CURLE_OK};
    return nothing;
}

/* The macros of curl.h that are casts. */
static const long curl_global_everything = CURL_GLOBAL_DEFAULT;
static const long curl_tls_1_2_or_newer = CURL_SSLVERSION_TLSv1_2;
static const size_t curl_error_size = CURL_ERROR_SIZE;
