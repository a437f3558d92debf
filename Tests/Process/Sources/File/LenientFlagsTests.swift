import Support
import Testing

/// What decides is strict, what decorates is lenient: an order is obeyed although a text beside it cannot be shown.
@Suite(.timeLimit(.minutes(5))) struct LenientFlagsTests {
    private static let switchObject = Daemon.shop.replacing("service-end", with: "switch")

    @Test(arguments: [
        #"{"state": "ended", "title": "\#(String(repeating: "x", count: 201))"}"#,
        #"{"state": "ended", "message": 7}"#, #"{"state": "ended", "retry_after": 0.5}"#,
        #"{"state": "ended", "ends_at": "tomorrow"}"#, #"{"state": "ended", "windows": 1}"#,
        #"{"state": "ended", "drain": "later"}"#,
    ])
    func anOrderIsObeyedBesideAFlagThatDecorates(order: String) throws {
        let daemon = try Daemon(Self.switchObject, flags: #"{"state": "running"}"#)
        try daemon.start(waitingFor: "running")
        try daemon.folder.write(order, to: "flags.json")
        try daemon.waitFor("ended")
        let status = try daemon.control("status")
        #expect(status.output.contains("source 'shop': key '"), "\(status.output)")
        try daemon.control("status", "--check").expect(0)
        #expect(try daemon.stop() == 0)
    }

    /// A misspelt end announces nothing. The change of that member alone moves nothing, and is told all the same.
    @Test func aMisspeltKeyIsTold() throws {
        let daemon = try Daemon(Self.switchObject, flags: #"{"state": "running"}"#)
        try daemon.start(waitingFor: "running")
        try daemon.folder.write(
            #"{"state": "running", "end_at": "2099-12-31T23:59:59Z"}"#, to: "flags.json")
        try daemon.waitUntil("status asks whether 'ends_at' was meant") {
            try daemon.control("status").output.contains("did you mean 'ends_at'?")
        }
        #expect(try daemon.stop() == 0)
    }

    /// 0001-01-01 is the unset time of Go.
    @Test func anUnsetTimeEndsNothing() throws {
        let daemon = try Daemon(Self.switchObject, flags: #"{"state": "running"}"#)
        try daemon.start(waitingFor: "running")
        try daemon.folder.write(
            #"{"state": "running", "title": "new", "ends_at": "0001-01-01T00:00:00Z"}"#,
            to: "flags.json")
        try daemon.waitUntil("status names the time") {
            try daemon.control("status").output.contains("is a time before 2000")
        }
        #expect(try daemon.member("state") == "\"running\"")
        #expect(try daemon.stop() == 0)
    }
}

/// A flag server that goes away together with its service: silence is the order.
@Suite(.timeLimit(.minutes(5))) struct ServerGoesTooTests {
    @Test func silenceEndsTheServiceWhereTheServerGoesToo() throws {
        let daemon = try Daemon(
            Daemon.followingFile(interval: "200ms") + "\nmax_stale = \"2s\"\nwhen_stale = \"ended\""
        )
        try daemon.setFlags("no", in: "flags.json")
        try daemon.start(waitingFor: "running")
        daemon.folder.remove("flags.json")
        try daemon.waitFor("ended")
        #expect(try daemon.member("reason") == "\"stale-ended\"")
        try daemon.setFlags("no", in: "flags.json")
        try daemon.waitFor("running")
        #expect(try daemon.stop() == 0)
    }
}
