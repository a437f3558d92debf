/*
 * A minimal program for the daemon's job: it waits until a file is replaced, reads it, and makes as many
 * files durable as the daemon. Its time is the part of the daemon's time that the machine needs anyway.
 *
 * usage: peer FOLDER; it watches FOLDER/flags.json and writes FOLDER/run/shop/state.json.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

static void check(int result, const char *call) {
    if (result < 0) {
        perror(call);
        exit(1);
    }
}

static void replace(const char *path, const char *text, const char *folder) {
    char temporary[4096];
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    int file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    check(file, "open");
    check((int)write(file, text, strlen(text)), "write");
    check(fsync(file), "fsync");
    close(file);
    check(rename(temporary, path), "rename");
    if (folder) {
        int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check(directory, "open");
        check(fsync(directory), "fsync");
        close(directory);
    }
}

static void decide(void) {
    char flags[4096], state[8192];
    int file = open("flags.json", O_RDONLY | O_CLOEXEC);
    check(file, "open");
    ssize_t count = read(file, flags, sizeof flags - 1);
    check((int)count, "read");
    close(file);
    flags[count] = 0;
    const char *word = strstr(flags, "\"no\"") ? "running" : "ended";
    snprintf(state, sizeof state, "{\n  \"state\": \"%s\",\n  \"filler\": \"%0500d\"\n}\n", word, 0);
    replace("state/flags.json", flags, "state");
    replace("state/services.json", state, "state");
    replace("run/shop/state.json", state, 0);
    replace("run/shop/state.env", state, 0);
}

int main(int argc, char **argv) {
    if (argc != 2 || chdir(argv[1]) < 0) return 2;
    mkdir("run", 0755);
    mkdir("run/shop", 0755);
    mkdir("state", 0755);
    int changes = inotify_init1(IN_CLOEXEC);
    check(changes, "inotify_init1");
    check(inotify_add_watch(changes, ".", IN_MOVED_TO), "inotify_add_watch");
    decide();
    for (;;) {
        char events[4096];
        check((int)read(changes, events, sizeof events), "read");
        decide();
    }
}
