import Files
import Glibc

/// Time zones of its own for one program: a folder in place of `/usr/share/zoneinfo`, and a file or a link in place of
/// `/etc/localtime`.
package final class MovedZones {
    private let preload: Preload
    private let folder: TemporaryFolder

    /// A system with `Asia/Tokyo` and the list of tzdata, in which `US/Pacific` and `Japan` are old names. Nothing is
    /// in the place of `/etc/localtime`.
    package init() throws {
        preload = try Preload("moved-zones", Self.source)
        folder = try TemporaryFolder()
        try Directory.create(folder("zoneinfo"))
        try install("Asia/Tokyo")
        try folder.write(
            "# version 2026a\nZ Asia/Tokyo 9 - JST\nZ America/Los_Angeles -8 - PST\n"
                + "L America/Los_Angeles US/Pacific\nL Asia/Tokyo Japan\n",
            to: "zoneinfo/tzdata.zi")
    }

    package var environment: [String: String] {
        ["LD_PRELOAD": preload.path, "MOVED_ZONES": folder.path]
    }

    /// Installs the file of a zone, with the data of this one of the host.
    package func install(_ name: String, as other: String? = nil) throws {
        let bytes = try File.read("/usr/share/zoneinfo/\(other ?? name)", limit: 1 << 16)
        let area = name.split(separator: "/").dropLast().joined(separator: "/")
        if !area.isEmpty { try Directory.create(folder("zoneinfo/\(area)")) }
        try File.replace(folder("zoneinfo/\(name)"), with: bytes)
    }

    /// Removes a zone, or with "" all of them and the list.
    package func remove(_ name: String) {
        folder.remove(name.isEmpty ? "zoneinfo" : "zoneinfo/\(name)")
    }

    /// The system's zone is this text, which is no zone.
    package func setLocal(to text: String) throws {
        try? File.remove(folder("localtime"))
        try folder.write(text, to: "localtime")
    }

    /// The system's zone is a link to this one, which need not be there.
    package func setLocal(zone name: String) throws {
        try? File.remove(folder("localtime"))
        try folder.link("zoneinfo/\(name)", as: "localtime")
    }

    private static let source = #"""
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <fcntl.h>
        #include <limits.h>
        #include <stdarg.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/stat.h>
        #include <unistd.h>
        static const char zones[] = "/usr/share/zoneinfo";
        static const char *moved(const char *path, char *buffer) {
            const char *folder = getenv("MOVED_ZONES");
            if (strncmp(path, zones, sizeof zones - 1) == 0) {
                snprintf(buffer, PATH_MAX, "%s/zoneinfo%s", folder, path + sizeof zones - 1);
                return buffer;
            }
            if (strcmp(path, "/etc/localtime") != 0) return path;
            snprintf(buffer, PATH_MAX, "%s/localtime", folder);
            return buffer;
        }
        int openat(int fd, const char *path, int flags, ...) {
            int (*next)(int, const char *, int, mode_t) = dlsym(RTLD_NEXT, "openat");
            char buffer[PATH_MAX];
            va_list list;
            va_start(list, flags);
            mode_t mode = va_arg(list, mode_t);
            va_end(list);
            return next(fd, moved(path, buffer), flags, mode);
        }
        int stat(const char *path, struct stat *result) {
            int (*next)(const char *, struct stat *) = dlsym(RTLD_NEXT, "stat");
            char buffer[PATH_MAX];
            return next(moved(path, buffer), result);
        }
        int lstat(const char *path, struct stat *result) {
            int (*next)(const char *, struct stat *) = dlsym(RTLD_NEXT, "lstat");
            char buffer[PATH_MAX];
            return next(moved(path, buffer), result);
        }
        ssize_t readlink(const char *path, char *target, size_t size) {
            ssize_t (*next)(const char *, char *, size_t) = dlsym(RTLD_NEXT, "readlink");
            char buffer[PATH_MAX];
            return next(moved(path, buffer), target, size);
        }
        """#
}
