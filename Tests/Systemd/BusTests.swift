import BusSupport
import CivilTime
import EventLoop
import Support
import Systemd
import Testing

@Suite(.timeLimit(.minutes(5)))
struct BusTests {
    private let server: PrivateBus

    init() throws { server = try PrivateBus() }

    private func connect(onLoss: @escaping () -> Void = {}) throws -> Bus {
        try Bus(server.loop, address: server.address, onLoss: onLoss)
    }

    private func ask<Answer>(
        _ bus: Bus, _ call: Call, within limit: Duration = .seconds(60),
        _ read: @escaping (Message) throws -> Answer
    ) throws -> Answer {
        var answer: Result<Answer, any Error>?
        try bus.call(call, within: limit) { result in
            answer = Result { try read(result.get()) }
        }
        try server.run { answer != nil }
        return try #require(answer).get()
    }

    @Test func aCallIsQueuedBeforeTheBusHasGreetedAndAnsweredLater() throws {
        let bus = try connect()
        let names = try ask(bus, .ofBus("ListNames")) { try $0.texts() }
        #expect(names.contains("org.freedesktop.DBus"))
    }

    @Test func anErrorHasItsNameAndSaysWhatWasTried() throws {
        let bus = try connect()
        let error = try #require(throws: BusError.self) {
            try ask(bus, .ofBus("GetNameOwner", [.text("org.example.Nobody")])) { try $0.text() }
        }
        #expect(error.name == "org.freedesktop.DBus.Error.NameHasNoOwner")
        #expect(error.description.hasPrefix("ask the bus: "))
        #expect(error.description.contains("org.example.Nobody"))
    }

    @Test func anAnswerOfAnotherTypeIsAnError() throws {
        let bus = try connect()
        let error = try #require(throws: BusError.self) {
            try ask(bus, .ofBus("ListNames")) { try $0.uint64() }
        }
        #expect(error.call == "read a message of the bus")
    }

    @Test func aBusThatIsNotThereIsRefusedAtOnce() throws {
        #expect(throws: BusError.self) {
            try Bus(server.loop, address: "unix:path=/nonexistent/bus") {}
        }
    }

    /// The socket takes the call, and no answer comes.
    @Test func aBusThatHangsBlocksNothingAndTheCallFailsInItsTime() throws {
        let bus = try connect()
        _ = try ask(bus, .ofBus("ListNames")) { try $0.texts() }
        server.freeze()
        defer { server.thaw() }
        let before = server.loop.now.boot
        let error = try #require(throws: BusError.self) {
            try ask(bus, .ofBus("ListNames"), within: .milliseconds(200)) { try $0.texts() }
        }
        #expect(error.description.contains("imed out"))
        #expect(server.loop.now.boot - before >= .milliseconds(200))
    }

    @Test func aBusThatHangsAndGoesOnAnswersThen() throws {
        server.freeze()
        let bus = try connect()
        var isAnswered = false
        try bus.call(.ofBus("ListNames")) { _ in isAnswered = true }
        for _ in 1...5 { try server.loop.runOnce(.milliseconds(10)) }
        #expect(!isAnswered)
        server.thaw()
        try server.run { isAnswered }
    }

    @Test func aLostConnectionIsReportedOnceAndFailsTheCallsInFlight() throws {
        var losses = 0
        let bus = try connect { losses += 1 }
        _ = try ask(bus, .ofBus("ListNames")) { try $0.texts() }
        server.freeze()
        var failed = false
        try bus.call(.ofBus("ListNames")) { result in
            if case .failure = result { failed = true }
        }
        try server.end()
        try server.run { losses > 0 }
        #expect(failed)
        for _ in 1...3 { try server.loop.runOnce(.milliseconds(10)) }
        #expect(losses == 1)
    }

    @Test func afterALossAnotherConnectionIsMade() throws {
        var isLost = false
        let first = try connect { isLost = true }
        try server.end()
        try server.run { isLost }
        try server.launchAgain()
        let second = try connect()
        let names = try ask(second, .ofBus("ListNames")) { try $0.texts() }
        #expect(!names.isEmpty)
        withExtendedLifetime(first) {}
    }

    /// As when the driver of gates reconnects from inside a handler of the bus.
    @Test func aConnectionMayBeDroppedInItsOwnAnswer() throws {
        var bus: Bus? = try connect()
        var isAnswered = false
        try bus?.call(.ofBus("ListNames")) { _ in
            bus = nil
            isAnswered = true
        }
        try server.run { isAnswered }
        #expect(bus == nil)
    }

    @Test func aDroppedConnectionAnswersNothingAnyMore() throws {
        var bus: Bus? = try connect()
        var isAnswered = false
        try bus?.call(.ofBus("ListNames")) { _ in isAnswered = true }
        bus = nil
        for _ in 1...5 { try server.loop.runOnce(.milliseconds(20)) }
        #expect(!isAnswered)
    }

    @Test func aMatchHearsWhatItAskedForAsLongAsItLives() throws {
        let bus = try connect()
        var received: [String] = []
        var match: Match? = try Match(
            bus, from: "org.freedesktop.DBus", "member='NameOwnerChanged',arg0='org.example.One'"
        ) { message in
            if let name = message.content({ try $0.text() }) { received.append(name) }
        }
        for name in ["org.example.Two", "org.example.One"] { try own(name, bus) }
        try server.run { !received.isEmpty }
        match = nil
        try own("org.example.Three", bus)
        #expect(received == ["org.example.One"])
        #expect(match == nil)
    }

    /// The bus delivers a signal to one connection whatever rules it has, and sd-bus takes each unique name for the
    /// sender of a rule: anybody could have the daemon believe what systemd had not said.
    @Test(arguments: [true, false])
    func aSignalCountsOnlyFromTheOwnerOfTheName(_ hasOwner: Bool) throws {
        let (bus, owner) = (try connect(), try connect())
        if hasOwner { try own("org.example.Told", owner) }
        var forged = 0
        let rule = "path='/org/example',interface='org.example.Told',member='Ended'"
        let matches = try [
            Match(bus, from: "org.example.Told", rule) { _ in forged += 1 },
            Match(
                bus, from: "org.example.Told", interface: "org.example.Told", member: "Ended",
                rules: ["\(rule),arg0='now'"], onRefusal: { _ in }
            ) { _ in forged += 1 },
        ]
        _ = try ask(bus, .ofBus("ListNames")) { try $0.texts() }
        try server.forge(["/org/example", "org.example.Told", "Ended", "s", "now"])
        try server.forge([
            "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged", "sss",
            "org.example.Told", "", ":1.2",
        ])
        try server.forge(["/org/example", "org.example.Told", "Ended", "s", "now"])
        // It comes after the signals.
        _ = try ask(bus, .ofBus("ListNames")) { try $0.texts() }
        #expect(forged == 0)
        #expect(matches.count == 2)
    }

    /// Without the owner no signal could count: the connection is of no use.
    @Test func aBusThatDoesNotTellTheOwnerCountsAsLost() throws {
        let server = try PrivateBus(denying: "GetNameOwner")
        var losses = 0
        let bus = try Bus(server.loop, address: server.address) { losses += 1 }
        let match = try Match(bus, from: "org.example.Told", "member='Ended'") { _ in }
        try server.run { losses > 0 }
        #expect(bus.isLost)
        try server.end()
        for _ in 1...3 { try server.loop.runOnce(.milliseconds(10)) }
        #expect(losses == 1)
        withExtendedLifetime(match) {}
    }

    private func own(_ name: String, _ bus: Bus) throws {
        _ = try ask(bus, .ofBus("RequestName", [.text(name), .number(0)])) { try $0.uint32() }
    }
}

extension Call {
    static func ofBus(_ member: String, _ arguments: [Argument] = []) -> Call {
        Call(
            "ask the bus", to: "org.freedesktop.DBus", path: "/org/freedesktop/DBus",
            interface: "org.freedesktop.DBus", member: member, arguments)
    }
}
