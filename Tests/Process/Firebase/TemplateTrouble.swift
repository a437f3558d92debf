import Support
import Testing

/// A way in which a service of Firebase fails, by its name there, and how the daemon says so.
struct TemplateTrouble: Sendable, CustomTestStringConvertible {
    let name: String
    /// A part of the line that says so.
    let line: String
    /// The same for a daemon that is started while the trouble lasts, where that says something else.
    var lineAtStart: String?

    var testDescription: String { name }

    /// What the flags say, in the format `service-end`.
    enum Word: String, CaseIterable, Sendable {
        case no
        case over

        var state: String { self == .no ? "running" : "ended" }
        var other: Word { self == .no ? .over : .no }
    }

    /// The flags that are known stay in force, whichever they are; and the daemon finds back. `publish`
    /// publishes a word as version 8.
    func isNoOrder(
        to daemon: Daemon, that knows: Word, from server: FirebaseServer,
        publish: (Word) throws -> Void
    ) async throws {
        try daemon.start()
        try await daemon.awaitState(knows.state)
        try await server.behave(name)
        try await daemon.awaitLine(line)
        #expect(try daemon.member("state") == "\"\(knows.state)\"")

        // What was ordered meanwhile is heard once the server is back, and nothing else.
        try publish(knows.other)
        try daemon.stop()
        try daemon.start()
        try await daemon.awaitLine(lineAtStart ?? line)
        #expect(try daemon.member("state") == "\"\(knows.state)\"")
        try await server.behave("ok")
        try await daemon.awaitState(knows.other.state)
        #expect(try daemon.member("version") == #""8""#)
    }
}
