import Files
import Glibc
import JSON
import Support
import Testing

/// Answers that would stop the daemon's work, or end it.
@Suite(.timeLimit(.minutes(5))) struct DeadlyAnswerTests {
    private func scene(
        signals: String = ""
    ) async throws -> (server: FirebaseServer, daemon: Daemon) {
        let server = try await FirebaseServer()
        let key = try ServiceAccountKey.enrolled(at: server)
        return (
            server,
            try Daemon(serverTemplateOf: server, account: try key.json(), source: signals)
        )
    }

    /// 8 MiB of expressions took over 20 minutes, again after each kill by the watchdog.
    @Test func expressionsWithoutEndDelayNoOrder() async throws {
        let (server, daemon) = try await scene(signals: #"signals = { s = "aaaaaaaaaaaaaaaa" }"#)
        let patterns = (0..<100_000).map { JSON.Value.string("(a{100}){10}b\($0)") }
        try server.publish(
            server: ["service_end": "over"], version: 2,
            conditions: [
                ["name": "endless", "condition": .signal("s", "STRING_CONTAINS_REGEX", patterns)]
            ], conditional: ["service_end": ["endless": ["value": "no"]]])
        try await daemon.start(awaiting: "ended")
        try await daemon.awaitLine(
            "source 'app': condition 'endless' counts as false: the template takes more than")
        #expect(try daemon.control("status").output.contains("'endless' counts as false"))
    }

    /// Ends the daemon where it would store flags that it has read, and by which every service has decided.
    private static let deadly = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <signal.h>
        #include <stdio.h>
        #include <string.h>
        int rename(const char *from, const char *to) {
            int (*next)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
            if (strstr(to, "/flags/app.json")) raise(SIGKILL);
            return next(from, to);
        }
        """

    @Test func anAnswerThatEndedTheDaemonIsNotReadAgainAtOnce() async throws {
        let (server, daemon) = try await scene()
        let filler = JSON.Value.string(String(repeating: "x", count: 100_000))
        try server.publish(server: ["service_end": "no"], version: 1)
        try await daemon.start(awaiting: "running")
        try daemon.stop()
        try server.publish(server: ["service_end": "over", "filler": filler], version: 2)
        let preload = try Preload("deadly", Self.deadly)
        try daemon.start(["LD_PRELOAD": preload.path])
        #expect(try #require(daemon.program).wait() == 128 + SIGKILL)
        try await daemon.start(
            awaitingLine: "killswitchd ended unexpectedly while reading this answer (1")
        try await daemon.awaitLine("it skips the answer for ten minutes after the start")
        try await daemon.awaitState("running")
        try daemon.stop()
        // As if it had been read again after ten minutes, and had ended the daemon again.
        let mark = try daemon.folder.text(of: "run/reading.app")
        try daemon.folder.write(mark.replacing(" 1\n", with: " 2\n"), to: "run/reading.app")
        // Any other answer is read.
        try await daemon.start(awaitingLine: "until it changes")
        try server.publish(server: ["service_end": "over", "filler": filler], version: 3)
        try await daemon.awaitState("ended")
        // It goes with the last file of the decision.
        try await daemon.awaitUntil("the mark is gone") {
            try !File.exists(daemon.folder("run/reading.app"))
        }
    }
}
