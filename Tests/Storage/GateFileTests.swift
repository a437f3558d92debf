import CivilTime
import Decision
import Files
import Gates
import Storage
import Support
import Testing

/// `gate.json`, written and read.
@Suite struct GateFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func directory() throws -> (RuntimeDirectory, Service) {
        (RuntimeDirectory(path: folder.path, bootID: "boot"), try service("shop"))
    }

    @Test func whatIsWrittenTwiceIsOneWrite() throws {
        let (directory, service) = try directory()
        let file = "\(directory.path)/shop/gate.json"
        let now = (wall: Instant(seconds: 1_800_000_000), boot: Boottime(microseconds: 5_000_000))
        try directory.publish(GateStatus(unmoved: .closed), of: service, now: now)
        let first = try File.attributes(of: file).modificationTime
        try directory.publish(GateStatus(unmoved: .closed), of: service, now: now)
        #expect(try File.attributes(of: file).modificationTime == first)
        try directory.publish(GateStatus(unmoved: .open), of: service, now: now)
        #expect(PublishedGate.read(in: "\(directory.path)/shop")?.wanted == .open)
    }

    @Test func aFileThatCannotBeReadIsNoKnowledge() throws {
        let (directory, _) = try directory()
        try Directory.create("\(directory.path)/shop")
        #expect(PublishedGate.read(in: "\(directory.path)/shop") == nil)
        try File.replace("\(directory.path)/shop/gate.json", with: Array("[".utf8))
        #expect(PublishedGate.read(in: "\(directory.path)/shop") == nil)
    }

    @Test func aServiceThatIsGoneHasNoGateAndAStartForgetsWhatAnEarlierDaemonKnew() throws {
        let (directory, service) = try directory()
        let now = (wall: Instant(seconds: 1_800_000_000), boot: Boottime(microseconds: 5_000_000))
        try directory.publish(GateStatus(unmoved: .closed), of: service, now: now)
        _ = try directory.tidy(services: [service.name], sources: [])
        #expect(try !File.exists("\(directory.path)/shop/gate.json"))
        try directory.publish(GateStatus(unmoved: .closed), of: service, now: now)
        try directory.withdraw(service.name)
        #expect(try !File.exists("\(directory.path)/shop"))
    }
}
