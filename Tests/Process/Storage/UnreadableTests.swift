import CivilTime
import Files
import Glibc
import JSON
import Support
import Testing

/// Files of the state directory that cannot be read: orders and flags stay in force, and nothing writes over the file.
@Suite(.timeLimit(.minutes(5))) struct UnreadableTests {
    static let garbage = "{\"schema\": 999}\n"

    /// A daemon whose service was closed by an order, and that was stopped since.
    private func closed(_ configuration: String = Daemon.shop) throws -> Daemon {
        let daemon = try Daemon.running(configuration)
        try daemon.control("close", "shop", "--reason", "x", "--for", "1h").expect(0)
        try daemon.stop()
        return daemon
    }

    private func asides(_ daemon: Daemon, in folder: String = "state") throws -> [String] {
        try Directory.list(daemon.folder(folder)).filter { $0.contains(".unreadable-") }
    }

    @Test func anOrderThatCannotBeReadStaysInForce() throws {
        let daemon = try closed()
        try daemon.folder.write(Self.garbage, to: "state/overrides.json")
        try daemon.start(waitingFor: "maintenance")
        try daemon.waitUntil("the flags are read") { try daemon.control("refresh").status == 0 }
        #expect(try daemon.member("state") == "\"maintenance\"")
        try daemon.control("status", "--check").expect(1, output: "overrides.json")
        #expect(try daemon.log.contains("overrides.json': it was written by another version"))
        // Another stored file is written again, this one is not.
        try File.remove(daemon.folder("state/services.json"))
        try daemon.waitUntil("the ledger is back") {
            try File.exists(daemon.folder("state/services.json"))
        }
        #expect(try daemon.folder.text(of: "state/overrides.json") == Self.garbage)
        try daemon.control("release", "shop").expect(0)
        try daemon.waitFor("running")
        let aside = try #require(try asides(daemon).first)
        #expect(try daemon.folder.text(of: "state/\(aside)") == Self.garbage)
        try daemon.control("status", "--check").expect(0)
    }

    /// A later version has written both files, or nobody may read them. The marker is all that tells.
    @Test func theMarkerAloneKeepsAServiceClosed() throws {
        let daemon = try closed()
        for name in ["overrides", "services"] {
            try daemon.folder.write(Self.garbage, to: "state/\(name).json")
        }
        try File.remove(daemon.folder("run/shop/state.json"))
        #expect(try File.exists(daemon.folder("run/shop/closed")))
        try daemon.start(waitingFor: "maintenance")
        try daemon.waitUntil("the flags are read") { try daemon.control("refresh").status == 0 }
        #expect(try daemon.member("state") == "\"maintenance\"")
        #expect(try daemon.member("reason") == "\"override\"")
        try daemon.control("open", "shop", "--reason", "y", "--for", "1h").expect(0)
        try daemon.waitFor("running")
        #expect(try asides(daemon).count == 2)
    }

    @Test(.enabled(if: geteuid() == 0, "needs root"))
    func aFileThatMayNotBeReadIsReadAgain() throws {
        let daemon = try closed()
        let path = daemon.folder("state/overrides.json")
        let order = try File.read(path, limit: 1 << 20)
        // Root may read everything: a folder stands in for an error of the disk.
        try File.remove(path)
        try Directory.create(path)
        try daemon.start(waitingFor: "maintenance")
        try daemon.waitUntil("it is said") { try daemon.log.contains("is a directory") }
        try Directory.remove(path)
        try File.replace(path, with: order)
        try daemon.waitUntil("it is read") {
            try daemon.log.contains("over: ")
        }
        #expect(try daemon.member("state") == "\"maintenance\"")
        #expect(try File.read(path, limit: 1 << 20) == order)
        try daemon.control("status", "--check").expect(0)
    }

    /// The source is dead, and its stored flags, which say that the service has ended, cannot be read.
    @Test func withoutItsFlagsAServiceStaysAsItWas() throws {
        let daemon = try Daemon.running(Daemon.shop + "\nfirst_timeout = \"100ms\"\n")
        try daemon.setFlags("over")
        try daemon.waitFor("ended")
        try daemon.stop()
        let stored = try #require(
            try Directory.list(daemon.folder("state/flags")).first { $0.hasSuffix(".json") })
        try daemon.folder.write(Self.garbage, to: "state/flags/\(stored)")
        try File.remove(daemon.folder("flags.json"))
        try daemon.start(waitingFor: "ended")
        try daemon.waitUntil("it waits no longer") {
            try daemon.member("reason") == "\"unreadable-closed\""
        }
        #expect(try daemon.member("state") == "\"ended\"")
        #expect(try File.exists(daemon.folder("run/shop/closed")))
        #expect(try daemon.folder.text(of: "state/flags/\(stored)") == Self.garbage)
        try daemon.setFlags("no")
        try daemon.waitFor("running")
        #expect(try asides(daemon, in: "state/flags").count == 1)
    }
}
