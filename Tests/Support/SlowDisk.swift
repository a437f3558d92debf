import Files

/// A slow disk for one program: delays `fsync`, `rename`, `unlink` and `utimensat`.
package final class SlowDisk {
    private let preload: Preload

    package init() throws { preload = try Preload("slow-disk", Self.source) }

    package var environment: [String: String] {
        ["LD_PRELOAD": preload.path, "SLOW_DISK": preload.file("delays")]
    }

    /// From now on each fsync takes this many milliseconds, and each other call `name`.
    package func delay(sync: Int, name: Int = 0) throws {
        try preload.write("\(sync) \(name)\n", to: "delays")
    }

    /// From now on each fsync waits until the next call of `delay`.
    package func hold() throws { try delay(sync: Self.forever) }

    private static let forever = -1

    private static let source = #"""
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <sys/stat.h>
        #include <time.h>
        enum kind { SYNC, NAME };
        static void pause_for(long ms) {
            struct timespec time = { ms / 1000, ms % 1000 * 1000000 };
            while (ms > 0 && nanosleep(&time, &time) != 0) {}
        }
        static long delay_of(enum kind kind) {
            long delays[2] = {0, 0};
            FILE *file = fopen(getenv("SLOW_DISK"), "r");
            if (file != NULL) {
                if (fscanf(file, "%ld %ld", &delays[SYNC], &delays[NAME]) != 2) abort();
                fclose(file);
            }
            return delays[kind];
        }
        static void wait_for(enum kind kind) {
            long ms = delay_of(kind);
            if (ms >= 0) return pause_for(ms);
            while (delay_of(kind) < 0) pause_for(10);
        }
        int fsync(int fd) {
            int (*next)(int) = dlsym(RTLD_NEXT, "fsync");
            wait_for(SYNC);
            return next(fd);
        }
        int rename(const char *from, const char *to) {
            int (*next)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
            wait_for(NAME);
            return next(from, to);
        }
        int unlink(const char *path) {
            int (*next)(const char *) = dlsym(RTLD_NEXT, "unlink");
            wait_for(NAME);
            return next(path);
        }
        int utimensat(int fd, const char *path, const struct timespec times[2], int flags) {
            int (*next)(int, const char *, const struct timespec *, int)
                = dlsym(RTLD_NEXT, "utimensat");
            wait_for(NAME);
            return next(fd, path, times, flags);
        }
        """#
}

/// A library for LD_PRELOAD that makes calls of C libraries fail or delays them, so that a test injects
/// a fault into a shipped program. It is compiled from C, and removed with the object.
package final class Preload {
    private let folder: TemporaryFolder

    package init(_ name: String, _ source: String) throws {
        folder = try TemporaryFolder()
        path = folder("\(name).so")
        try folder.write(source, to: "\(name).c")
        try Program.succeed(
            "/usr/bin/gcc",
            ["-shared", "-fPIC", "-O", "-Wall", "-Werror", "-o", path, folder("\(name).c")])
    }

    /// The library, for LD_PRELOAD.
    package let path: String

    /// The path of a file beside the library, which the library may read.
    package func file(_ name: String) -> String { folder(name) }

    package func write(_ text: String, to name: String) throws { try folder.write(text, to: name) }
}
