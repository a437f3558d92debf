import Support
import Testing

/// Distributions with a libcurl before 7.87: RHEL 9 has 7.76, and Ubuntu 22.04 has 7.81.
@Suite(.timeLimit(.minutes(5))) struct OldLibcurlTests {
    /// A preloaded library answers as libcurl 7.76 does: it knows no option that came later.
    private func older() throws -> Preload {
        try Preload(
            "older",
            #"""
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <stdarg.h>
            #include <stdio.h>
            #include <string.h>
            static int (*set)(void *, int, void *);
            static int set_older(void *easy, int option, ...) {
                va_list arguments;
                va_start(arguments, option);
                void *value = va_arg(arguments, void *);
                va_end(arguments);
                int number = option % 10000;
                if (number > 308) {
                    fprintf(stderr, "option %d is unknown\n", number);
                    return 48; /* CURLE_UNKNOWN_OPTION */
                }
                return set(easy, option, value);
            }
            void *dlsym(void *library, const char *name) {
                void *(*next)(void *, const char *) = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
                void *found = next(library, name);
                if (strcmp(name, "curl_easy_setopt") != 0) return found;
                set = (int (*)(void *, int, void *))found;
                return (void *)set_older;
            }
            """#)
    }

    @Test func theDaemonFollowsFlagsWithoutTheNewerOptions() async throws {
        let (server, library) = (try await FlagServer(isSecure: true), try older())
        let daemon = try Daemon(asking: server, isSecure: true)
        daemon.environment = ["LD_PRELOAD": library.path]
        try await daemon.start(awaiting: "running")
        // CURLOPT_PROTOCOLS_STR, CURLOPT_CA_CACHE_TIMEOUT, CURLOPT_QUICK_EXIT.
        for option in [318, 321, 322] {
            #expect(try daemon.log.contains("option \(option) is unknown"))
        }
        try await server.behave("maintenance")
        try await daemon.awaitState("maintenance")
    }
}
