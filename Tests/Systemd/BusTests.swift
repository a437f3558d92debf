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
        _ bus: Bus, _ call: Call, within limit: Duration = .seconds(5),
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
            bus,
            "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',"
                + "arg0='org.example.One'"
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
