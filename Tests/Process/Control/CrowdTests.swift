import Files
import JSON
import Support
import Testing

/// Many, slow, silent, huge or malformed clients lose their own connection and disturb nobody else.
@Suite(.timeLimit(.minutes(5))) struct CrowdTests {
    @Test func aCrowdOfClientsDelaysNoPollAndNoPing() async throws {
        let daemon = try Daemon(Daemon.followingFile(interval: "1s"))
        let crowd = try Program("/usr/bin/python3", [script("crowd.py"), daemon.folder.path])
        try daemon.waitFor(file: "listening")
        try daemon.start([
            "NOTIFY_SOCKET": daemon.folder("notify"), "WATCHDOG_USEC": "2000000",
        ])
        let daemonID = try #require(daemon.program).processID
        try daemon.folder.write("\(daemonID)", to: "pid")
        #expect(try await crowd.end() == 0)
        #expect(try crowd.errors == "")
        let result = try #require(try JSON.Value.parse(try crowd.output).object)
        let number = { (key: String) throws -> Double in
            try #require(result[key]?.number?.double, "\(key)")
        }
        #expect(try number("served") == 500)
        #expect(try number("following") == 500)
        #expect(try number("told") == 500)
        #expect(result["huge_was_cut"] == true)
        #expect(result["answers_to_noise"] == 0)
        #expect(result["first_is_served_still"] == true)
        #expect(
            result["half_closed"] == [
                ["refused", "services", "sources"], ["process", "sources"], ["method"],
            ])
        print("a crowd at the control socket: \(try crowd.output)")
        // The kernel's buffer and the daemon's bound how much one client can queue.
        #expect(try number("deaf_asked") < 4_000_000)
        // In kilobytes, for more than five hundred clients. A sanitizer keeps freed memory, so the limit is
        // for the shipped programs alone.
        if Programs.areShipped {
            #expect(try number("memory_with_all") - number("memory_before") < 16_384)
        }
        // The service manager would end a daemon after two seconds of silence.
        #expect(try number("longest_without_ping") < 2)
        #expect(try number("longest_without_poll") < 3)
    }
}
