/* Of the two options that limit protocols, one is deprecated, and the other is unknown to a libcurl before 7.85. */
#define CURL_DISABLE_DEPRECATION

#include "ccurl.h"

#include <dlfcn.h>

/* Our functions of libcurl's names are hidden, so that libcurl calls its own. */
#define HIDDEN __attribute__((visibility("hidden")))

/* The functions of libcurl that Swift calls by their own names: type, name, parameters, arguments. */
#define FUNCTIONS(F)                                                                                \
    F(CURLcode, curl_global_init, (long flags), (flags))                                            \
    F(void, curl_global_cleanup, (void), ())                                                        \
    F(void, curl_free, (void *text), (text))                                                        \
    F(CURL *, curl_easy_init, (void), ())                                                           \
    F(void, curl_easy_cleanup, (CURL * easy), (easy))                                               \
    F(const char *, curl_easy_strerror, (CURLcode code), (code))                                    \
    F(struct curl_slist *, curl_slist_append, (struct curl_slist * list, const char *text),         \
      (list, text))                                                                                 \
    F(void, curl_slist_free_all, (struct curl_slist * list), (list))                                \
    F(CURLU *, curl_url, (void), ())                                                                \
    F(void, curl_url_cleanup, (CURLU * url), (url))                                                 \
    F(CURLUcode, curl_url_set,                                                                      \
      (CURLU * url, CURLUPart part, const char *value, unsigned int flags),                         \
      (url, part, value, flags))                                                                    \
    F(CURLM *, curl_multi_init, (void), ())                                                         \
    F(CURLMcode, curl_multi_cleanup, (CURLM * multi), (multi))                                      \
    F(const char *, curl_multi_strerror, (CURLMcode code), (code))                                  \
    F(CURLMcode, curl_multi_add_handle, (CURLM * multi, CURL *easy), (multi, easy))                 \
    F(CURLMcode, curl_multi_remove_handle, (CURLM * multi, CURL *easy), (multi, easy))              \
    F(CURLMcode, curl_multi_socket_action,                                                          \
      (CURLM * multi, curl_socket_t socket, int events, int *running),                              \
      (multi, socket, events, running))                                                             \
    F(CURLMcode, curl_multi_timeout, (CURLM * multi, long *milliseconds), (multi, milliseconds))

#define DEFINE(type, name, parameters, arguments)                                                   \
    static type(*loaded_##name) parameters;                                                         \
    HIDDEN type name parameters { return loaded_##name arguments; }

FUNCTIONS(DEFINE)

/* The others: variadic, or of another type in a later version. */
static CURLUcode (*url_get)(CURLU *, CURLUPart, char **, unsigned int);
static CURLMsg *(*multi_info_read)(CURLM *, int *);
static CURLcode (*easy_setopt)(CURL *, CURLoption, ...);
static CURLcode (*easy_getinfo)(CURL *, CURLINFO, ...);
static CURLMcode (*multi_setopt)(CURLM *, CURLMoption, ...);

#define LOAD(pointer, name)                                                                         \
    if ((*(void **)&(pointer) = dlsym(library, name)) == NULL) return dlerror();
#define LOAD_FUNCTION(type, name, parameters, arguments) LOAD(loaded_##name, #name)

const char *curl_load(void) {
    static void *library;
    if (multi_setopt != NULL) return NULL;
    if (library == NULL) library = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL) return dlerror();
    FUNCTIONS(LOAD_FUNCTION)
    LOAD(url_get, "curl_url_get")
    LOAD(multi_info_read, "curl_multi_info_read")
    LOAD(easy_setopt, "curl_easy_setopt")
    LOAD(easy_getinfo, "curl_easy_getinfo")
    LOAD(multi_setopt, "curl_multi_setopt")
    return NULL;
}

CURLUcode curl_url_get_part(CURLU *url, CURLUPart part, char **value, unsigned int flags) {
    return url_get(url, part, value, flags);
}

CURLcode curl_easy_set_long(CURL *easy, CURLoption option, long value) {
    return easy_setopt(easy, option, value);
}

CURLcode curl_easy_set_if_known(CURL *easy, CURLoption option, long value) {
    CURLcode code = easy_setopt(easy, option, value);
    return code == CURLE_UNKNOWN_OPTION ? CURLE_OK : code;
}

CURLcode curl_easy_set_web_only(CURL *easy) {
    CURLcode code = easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    if (code != CURLE_UNKNOWN_OPTION) return code;
    return easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
}

CURLcode curl_easy_set_text(CURL *easy, CURLoption option, const char *value) {
    return easy_setopt(easy, option, value);
}

CURLcode curl_easy_set_pointer(CURL *easy, CURLoption option, void *value) {
    return easy_setopt(easy, option, value);
}

CURLcode curl_easy_set_url(CURL *easy, CURLU *url) {
    return easy_setopt(easy, CURLOPT_CURLU, url);
}

CURLcode curl_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *list) {
    return easy_setopt(easy, option, list);
}

CURLcode curl_easy_set_bytes(CURL *easy, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
    return easy_setopt(easy, option, &blob);
}

CURLcode curl_easy_set_post(CURL *easy, const void *bytes, long count) {
    CURLcode code = easy_setopt(easy, CURLOPT_POSTFIELDSIZE, count);
    return code == CURLE_OK ? easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, bytes) : code;
}

CURLcode curl_easy_set_receiver(
    CURL *easy, CURLoption option, size_t (*receive)(char *, size_t, size_t, void *)) {
    return easy_setopt(easy, option, receive);
}

CURLcode curl_easy_get_long(CURL *easy, CURLINFO info, long *value) {
    return easy_getinfo(easy, info, value);
}

CURLcode curl_easy_get_text(CURL *easy, CURLINFO info, char **value) {
    return easy_getinfo(easy, info, value);
}

CURLMcode curl_multi_set_pointer(CURLM *multi, CURLMoption option, void *value) {
    return multi_setopt(multi, option, value);
}

CURLMcode curl_multi_set_socket_function(
    CURLM *multi, int (*watch)(CURL *, curl_socket_t, int, void *, void *)) {
    return multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch);
}

CURLMcode curl_multi_set_timer_function(CURLM *multi, int (*schedule)(CURLM *, long, void *)) {
    return multi_setopt(multi, CURLMOPT_TIMERFUNCTION, schedule);
}

struct curl_finished curl_multi_next_finished(CURLM *multi) {
    int left = 0;
    CURLMsg *message;
    while ((message = multi_info_read(multi, &left)) != NULL) {
        if (message->msg == CURLMSG_DONE) {
            struct curl_finished finished = {message->easy_handle, message->data.result};
            return finished;
        }
    }
    struct curl_finished nothing = {NULL, CURLE_OK};
    return nothing;
}
