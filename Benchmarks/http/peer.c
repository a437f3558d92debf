/*
 * The peer: a C program that polls documents of flags with libcurl. It does the same work as killswitchd
 * for each poll, with the same guarantees: a conditional GET on a kept connection by
 * curl_multi_socket_action on sd-event; strict limits; a 304 touches the mark of the source; new flags are
 * parsed and read as format "status", and stored with their ETag, atomically and synced, before they
 * count.
 *
 * usage: peer URL FOLDER INTERVAL-MS SOURCES [CA-FILE]
 *
 * The program that the variable ON_CHANGE names is started with each new state.
 */
#define _GNU_SOURCE
#include <cjson/cJSON.h>
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <unistd.h>

#define BODY_LIMIT (1 << 20)
#define HEADER_LIMIT (64 << 10)

/* One document that is polled. */
struct source {
    CURL *easy;
    sd_event_source *timer;
    char folder[4096];
    char *body;
    size_t body_size, body_room, header_size;
    char etag[1024], last_modified[128], date[128];
    char known_etag[1024], known_modified[128];
    char *known_body;
    size_t known_size;
    struct curl_slist *headers;
    int state;
};

static sd_event *loop;
static CURLM *multi;
static sd_event_source *curl_timer, *curl_soon;
static uint64_t interval;

static void die(const char *what) {
    fprintf(stderr, "peer: %s: %s\n", what, strerror(errno));
    exit(1);
}

static char *path_of(struct source *it, const char *name) {
    static char path[8192];
    snprintf(path, sizeof path, "%s/%s", it->folder, name);
    return path;
}

/* A line of the headers. */
static size_t take_header(char *line, size_t size, size_t count, void *userdata) {
    struct source *it = userdata;
    size_t length = size * count;
    it->header_size += length;
    if (it->header_size > HEADER_LIMIT) return 0;
    struct { const char *name; char *value; size_t room; } wanted[] = {
        {"etag:", it->etag, sizeof it->etag},
        {"last-modified:", it->last_modified, sizeof it->last_modified},
        {"date:", it->date, sizeof it->date},
    };
    for (size_t i = 0; i < 3; i++) {
        size_t skip = strlen(wanted[i].name);
        if (length <= skip || strncasecmp(line, wanted[i].name, skip) != 0) continue;
        while (skip < length && (line[skip] == ' ' || line[skip] == '\t')) skip++;
        size_t end = length;
        while (end > skip && (line[end - 1] == '\r' || line[end - 1] == '\n')) end--;
        if (end - skip >= wanted[i].room) continue;
        memcpy(wanted[i].value, line + skip, end - skip);
        wanted[i].value[end - skip] = 0;
    }
    return length;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *userdata) {
    struct source *it = userdata;
    size_t length = size * count;
    if (it->body_size + length > BODY_LIMIT) return 0;
    if (it->body_size + length + 1 > it->body_room) {
        it->body_room = 2 * (it->body_size + length + 1);
        it->body = realloc(it->body, it->body_room);
        if (!it->body) die("realloc");
    }
    memcpy(it->body + it->body_size, bytes, length);
    it->body_size += length;
    it->body[it->body_size] = 0;
    return length;
}

/* Replaces a file by rename, synced. */
static void replace(struct source *it, const char *name, const char *bytes, size_t size) {
    char temporary[8192];
    snprintf(temporary, sizeof temporary, "%s/.%s.tmp", it->folder, name);
    unlink(temporary);
    int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) die("open");
    while (size > 0) {
        ssize_t count = write(file, bytes, size);
        if (count < 0) die("write");
        bytes += count;
        size -= (size_t)count;
    }
    if (fchmod(file, 0644) || fsync(file) || close(file)) die("sync");
    if (rename(temporary, path_of(it, name))) die("rename");
    int directory = open(it->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0 || fsync(directory) || close(directory)) die("sync the folder");
}

/* Stores the flags with their time and validators. */
static void store(struct source *it) {
    cJSON *stored = cJSON_CreateObject();
    char now[64];
    time_t seconds = time(NULL);
    struct tm parts;
    strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%S+00:00", gmtime_r(&seconds, &parts));
    cJSON_AddStringToObject(stored, "fetched_at", now);
    cJSON_AddStringToObject(stored, "etag", it->etag);
    cJSON_AddStringToObject(stored, "last_modified", it->last_modified);
    cJSON_AddStringToObject(stored, "body", it->body);
    char *text = cJSON_Print(stored);
    if (!text) die("print");
    replace(it, "flags.json", text, strlen(text));
    free(text);
    cJSON_Delete(stored);
}

static void act_on(char *state) {
    char *program = getenv("ON_CHANGE");
    pid_t child;
    if (!program) return;
    if (posix_spawn(&child, program, NULL, NULL, (char *[]){program, state, NULL}, environ) != 0) die("spawn");
    waitpid(child, NULL, 0);
}

static void publish(struct source *it, int now) {
    if (now == it->state) return;
    it->state = now;
    char text[32];
    snprintf(text, sizeof text, "%s\n", now == 2 ? "update-required" : now ? "maintenance" : "running");
    replace(it, "state.json", text, strlen(text));
    fprintf(stderr, "peer: %s", text);
    *strchr(text, '\n') = 0;
    act_on(text);
}

/* As strict as cJSON can be: nothing may follow the object. cJSON accepts duplicate keys. */
static int read_flags(struct source *it) {
    const char *end = NULL;
    cJSON *flags = cJSON_ParseWithLengthOpts(it->body, it->body_size + 1, &end, 1);
    int result = -1;
    if (cJSON_IsObject(flags)) {
        cJSON *inactive = cJSON_GetObjectItemCaseSensitive(flags, "apiInactive");
        cJSON *update = cJSON_GetObjectItemCaseSensitive(flags, "forceUpdate");
        if (cJSON_IsBool(inactive) && cJSON_IsBool(update))
            result = cJSON_IsTrue(update) ? 2 : cJSON_IsTrue(inactive) ? 1 : 0;
    }
    cJSON_Delete(flags);
    return result;
}

static void confirm(struct source *it) {
    if (utimensat(AT_FDCWD, path_of(it, "source"), NULL, 0) == 0) return;
    int file = open(path_of(it, "source"), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0 || close(file)) die("touch");
}

/* Marks the stored flags as confirmed, at most every ten minutes. */
static void confirm_stored(struct source *it) {
    struct stat status;
    if (stat(path_of(it, "flags.json"), &status) == 0 && time(NULL) - status.st_mtime >= 600)
        utimensat(AT_FDCWD, path_of(it, "flags.json"), NULL, 0);
}

static void finish(struct source *it, CURLcode code) {
    long status = 0;
    curl_easy_getinfo(it->easy, CURLINFO_RESPONSE_CODE, &status);
    if (code != CURLE_OK) {
        fprintf(stderr, "peer: %s\n", curl_easy_strerror(code));
    } else if (status == 304) {
        (void)curl_getdate(it->date, NULL);
        confirm(it);
        confirm_stored(it);
    } else if (status == 200) {
        (void)curl_getdate(it->date, NULL);
        if (it->known_body && it->known_size == it->body_size &&
            memcmp(it->known_body, it->body, it->body_size) == 0) {
            confirm(it);
        } else {
            int now = read_flags(it);
            if (now >= 0) {
                store(it);
                confirm(it);
                publish(it, now);
                free(it->known_body);
                it->known_body = malloc(it->body_size);
                if (!it->known_body) die("malloc");
                memcpy(it->known_body, it->body, it->body_size);
                it->known_size = it->body_size;
                strcpy(it->known_etag, it->etag);
                strcpy(it->known_modified, it->last_modified);
            }
        }
    }
    /* The interval, a tenth more or less. */
    uint64_t wait = (uint64_t)((double)interval * (0.9 + 0.2 * drand48()));
    uint64_t now = 0;
    sd_event_now(loop, CLOCK_BOOTTIME, &now);
    sd_event_source_set_time(it->timer, now + wait);
    sd_event_source_set_enabled(it->timer, SD_EVENT_ONESHOT);
}

static void act(curl_socket_t socket, int mask) {
    int running = 0;
    curl_multi_socket_action(multi, socket, mask, &running);
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        CURLcode code = message->data.result;
        CURL *easy = message->easy_handle;
        struct source *it = NULL;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &it);
        curl_multi_remove_handle(multi, easy);
        finish(it, code);
    }
}

static int on_ready(sd_event_source *source, int socket, uint32_t events, void *unused) {
    (void)source, (void)unused;
    int mask = 0;
    if (events & EPOLLIN) mask |= CURL_CSELECT_IN;
    if (events & EPOLLOUT) mask |= CURL_CSELECT_OUT;
    if (events & (EPOLLERR | EPOLLHUP)) mask |= CURL_CSELECT_ERR;
    act(socket, mask);
    return 0;
}

static int watch(CURL *handle, curl_socket_t socket, int wish, void *unused, void *known) {
    (void)handle, (void)unused;
    sd_event_source *source = known;
    if (wish == CURL_POLL_REMOVE) {
        sd_event_source_disable_unref(source);
        curl_multi_assign(multi, socket, NULL);
        return 0;
    }
    uint32_t events = (wish & CURL_POLL_IN ? EPOLLIN : 0) | (wish & CURL_POLL_OUT ? EPOLLOUT : 0);
    if (source) return sd_event_source_set_io_events(source, events);
    if (sd_event_add_io(loop, &source, socket, events, on_ready, NULL) < 0) return -1;
    curl_multi_assign(multi, socket, source);
    return 0;
}

static int schedule(CURLM *handle, long milliseconds, void *unused) {
    (void)handle, (void)unused;
    if (milliseconds <= 0) {
        sd_event_source_set_enabled(curl_timer, SD_EVENT_OFF);
        if (milliseconds == 0) sd_event_source_set_enabled(curl_soon, SD_EVENT_ONESHOT);
        return 0;
    }
    uint64_t now = 0;
    sd_event_now(loop, CLOCK_BOOTTIME, &now);
    sd_event_source_set_time(curl_timer, now + (uint64_t)milliseconds * 1000);
    sd_event_source_set_enabled(curl_timer, SD_EVENT_ONESHOT);
    return 0;
}

static int on_curl_timer(sd_event_source *source, uint64_t time, void *unused) {
    (void)source, (void)time, (void)unused;
    act(CURL_SOCKET_TIMEOUT, 0);
    return 0;
}

static int on_soon(sd_event_source *source, void *unused) {
    (void)source, (void)unused;
    act(CURL_SOCKET_TIMEOUT, 0);
    return 0;
}

static int on_poll(sd_event_source *source, uint64_t time, void *userdata) {
    (void)source, (void)time;
    struct source *it = userdata;
    char line[1200];
    curl_slist_free_all(it->headers);
    it->headers = curl_slist_append(NULL, "Accept: application/json");
    if (*it->known_etag) {
        snprintf(line, sizeof line, "If-None-Match: %s", it->known_etag);
        it->headers = curl_slist_append(it->headers, line);
    }
    if (*it->known_modified) {
        snprintf(line, sizeof line, "If-Modified-Since: %s", it->known_modified);
        it->headers = curl_slist_append(it->headers, line);
    }
    curl_easy_setopt(it->easy, CURLOPT_HTTPHEADER, it->headers);
    it->body_size = it->header_size = 0;
    *it->etag = *it->last_modified = *it->date = 0;
    curl_multi_add_handle(multi, it->easy);
    return 0;
}

static void start(const char *url, const char *folder, int number, const char *authorities) {
    struct source *it = calloc(1, sizeof *it);
    char own[4096];
    if (!it) die("calloc");
    snprintf(it->folder, sizeof it->folder, "%s/%d", folder, number);
    if (mkdir(it->folder, 0755)) die("mkdir");
    snprintf(own, sizeof own, "%s?%d", url, number);
    it->state = -1;
    it->easy = curl_easy_init();
    curl_easy_setopt(it->easy, CURLOPT_URL, own);
    curl_easy_setopt(it->easy, CURLOPT_PRIVATE, it);
    curl_easy_setopt(it->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(it->easy, CURLOPT_ACCEPT_ENCODING, "gzip");
    curl_easy_setopt(it->easy, CURLOPT_USERAGENT, "peer/1");
    curl_easy_setopt(it->easy, CURLOPT_TIMEOUT_MS, 30000L);
    curl_easy_setopt(it->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(it->easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(it->easy, CURLOPT_CAPATH, NULL);
    if (authorities) curl_easy_setopt(it->easy, CURLOPT_CAINFO, authorities);
    curl_easy_setopt(it->easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(it->easy, CURLOPT_HEADERDATA, it);
    curl_easy_setopt(it->easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(it->easy, CURLOPT_WRITEDATA, it);
    sd_event_add_time(loop, &it->timer, CLOCK_BOOTTIME, 1, 20000, on_poll, it);
}

int main(int count, char **arguments) {
    if (count < 5) return fprintf(stderr, "usage: peer URL FOLDER INTERVAL-MS SOURCES [CA]\n"), 2;
    interval = strtoull(arguments[3], NULL, 10) * 1000;
    srand48(getpid());
    curl_global_init(CURL_GLOBAL_DEFAULT);
    if (sd_event_new(&loop) < 0) die("sd_event_new");
    sd_event_add_time(loop, &curl_timer, CLOCK_BOOTTIME, UINT64_MAX, 5000, on_curl_timer, NULL);
    sd_event_source_set_enabled(curl_timer, SD_EVENT_OFF);
    sd_event_add_defer(loop, &curl_soon, on_soon, NULL);
    sd_event_source_set_enabled(curl_soon, SD_EVENT_OFF);
    multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, schedule);
    for (int number = 0; number < atoi(arguments[4]); number++)
        start(arguments[1], arguments[2], number, count > 5 ? arguments[5] : NULL);
    return sd_event_loop(loop);
}
