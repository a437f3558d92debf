/*
 * What the kernel takes for the files of a change: puts files of these sizes in place for each service, as the
 * contract says (a temporary file, fsync, rename), and nothing else. Prints the seconds.
 *
 * usage: peer FOLDER SERVICES SIZE...
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char bytes[1 << 20];

static void check(int result, const char *call) {
    if (result < 0) {
        perror(call);
        exit(1);
    }
}

static void replace(int service, int number, size_t size) {
    char temporary[64], path[64];
    snprintf(temporary, sizeof temporary, "s%d/.file%d.tmp", service, number);
    snprintf(path, sizeof path, "s%d/file%d", service, number);
    int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    check(file, "open");
    check((int)write(file, bytes, size < sizeof bytes ? size : sizeof bytes), "write");
    check(fchmod(file, 0644), "fchmod");
    check(fsync(file), "fsync");
    close(file);
    check(rename(temporary, path), "rename");
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    check(chdir(argv[1]), "chdir");
    int services = atoi(argv[2]);
    for (int service = 0; service < services; service++) {
        char folder[32];
        snprintf(folder, sizeof folder, "s%d", service);
        check(mkdir(folder, 0755), "mkdir");
        for (int number = 3; number < argc; number++) replace(service, number, (size_t)atol(argv[number]));
    }
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int service = 0; service < services; service++)
        for (int number = 3; number < argc; number++) replace(service, number, (size_t)atol(argv[number]));
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.6f\n", (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
    return 0;
}
