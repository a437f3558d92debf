import Files
import Glibc
import Support
import Testing

/// A configuration that is valid but cannot be put in force.
@Suite(.timeLimit(.minutes(5))) struct RefusalTests {
    /// Fails the first call of libcurl, which the first source on the network needs.
    private static let noMemory = "void *curl_multi_init(void) { return 0; }\n"

    private static let withNetwork =
        Daemon.shop + """

            [service.web]
            source = "http://127.0.0.1:9/flags.json"
            format = "service-end"
            """

    /// Once the control socket reported a refusal, while the service manager and the file
    /// `configuration.refused` reported that the configuration was in force.
    @Test func aConfigurationWhoseSourcesCannotStartIsReportedAsRefusedEverywhere() throws {
        let watched = try WatchedDaemon()
        let daemon = watched.daemon
        let preload = try Preload("no-memory", Self.noMemory)
        try watched.start(["LD_PRELOAD": preload.path])
        try watched.waitUntilReady()

        try daemon.configure(Self.withNetwork)
        daemon.program?.send(SIGHUP)
        #expect(try watched.next() == "RELOADING=1\nMONOTONIC_USEC=·")
        let status = try watched.next()
        #expect(
            status.hasPrefix(
                "READY=1\nSTATUS=configuration refused; the last accepted one stays in force: "))
        #expect(status.contains("out of memory"))
        #expect(
            try daemon.folder.text(of: "run/configuration.refused").contains("out of memory"))
        let shown = try daemon.control("status", "--json")
        #expect(shown.output.contains("out of memory"))
        #expect(!shown.output.contains("web"))
        #expect(try daemon.control("reload").errors.contains("out of memory"))
        #expect(try daemon.folder.text(of: "state/configuration.json").contains("web") == false)

        // A corrected configuration leaves no trace of the refusal.
        try daemon.reload(Daemon.shop)
        #expect(try !File.exists(daemon.folder("run/configuration.refused")))
        #expect(try daemon.control("status").errors == "")
        try watched.waitUntilReady()
    }
}
