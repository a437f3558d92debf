/*
 * libcurl as Swift sees it.
 *
 * libcurl brings 26 libraries with it, half of the time of a start. Only sources in the network need it, so it is
 * loaded when the first of them is made, by dlopen(3). Its functions are called under their own names.
 *
 * curl_easy_setopt and its like are variadic, which Swift cannot call: each kind of argument that we pass has a
 * function of its own here.
 */
#ifndef CCURL_H
#define CCURL_H

#include <curl/curl.h>

/* Loads libcurl. Gives null, also if it is loaded already, or why it cannot be loaded. No other function may be called
 * before. */
const char *curl_load(void);

/* curl_url_get, whose first argument is const in later versions. */
CURLUcode curl_url_get_part(CURLU *url, CURLUPart part, char **value, unsigned int flags);

CURLcode curl_easy_set_long(CURL *easy, CURLoption option, long value);

/* For an option that the daemon can do without: a libcurl that is too old for it goes on without. */
CURLcode curl_easy_set_if_known(CURL *easy, CURLoption option, long value);

/* No other protocol than http and https. */
CURLcode curl_easy_set_web_only(CURL *easy);

/* libcurl copies the text. */
CURLcode curl_easy_set_text(CURL *easy, CURLoption option, const char *value);

/* libcurl keeps the pointer. */
CURLcode curl_easy_set_pointer(CURL *easy, CURLoption option, void *value);

/* libcurl keeps the parsed URL; null takes it away. */
CURLcode curl_easy_set_url(CURL *easy, CURLU *url);

CURLcode curl_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *list);

/* libcurl copies the bytes. */
CURLcode curl_easy_set_bytes(CURL *easy, CURLoption option, const void *bytes, size_t count);

/* A request of method POST with this body, which libcurl copies. */
CURLcode curl_easy_set_post(CURL *easy, const void *bytes, long count);

/* For CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION. */
CURLcode curl_easy_set_receiver(
    CURL *easy, CURLoption option, size_t (*receive)(char *, size_t, size_t, void *));

CURLcode curl_easy_get_long(CURL *easy, CURLINFO info, long *value);

/* For texts and for CURLINFO_PRIVATE. */
CURLcode curl_easy_get_text(CURL *easy, CURLINFO info, char **value);

CURLMcode curl_multi_set_pointer(CURLM *multi, CURLMoption option, void *value);

/* Null takes the callback away. */
CURLMcode curl_multi_set_socket_function(
    CURLM *multi, int (*watch)(CURL *, curl_socket_t, int, void *, void *));

/* Null takes the callback away. */
CURLMcode curl_multi_set_timer_function(CURLM *multi, int (*schedule)(CURLM *, long, void *));

/* A finished transfer: CURLMsg holds a union, of which this is the part that is used. */
struct curl_finished {
    CURL *easy; /* null where nothing has finished */
    CURLcode code;
};

struct curl_finished curl_multi_next_finished(CURLM *multi);

/* The macros of curl.h that are casts. */
static const long curl_global_everything = CURL_GLOBAL_DEFAULT;
static const long curl_tls_1_2_or_newer = CURL_SSLVERSION_TLSv1_2;
static const size_t curl_error_size = CURL_ERROR_SIZE;

#endif
