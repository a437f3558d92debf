import EventLoop
import Files
import Glibc
import POSIX
import Support
import Systemd
import Testing

@Suite struct MessageTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let message: Notification
        let testDescription: String
    }

    static let cases: [Case] = [
        Case(message: .ready, testDescription: "READY=1"),
        Case(message: .stopping, testDescription: "STOPPING=1"),
        Case(message: .watchdog, testDescription: "WATCHDOG=1"),
        Case(
            message: .reloading(since: 123_456),
            testDescription: "RELOADING=1\nMONOTONIC_USEC=123456"),
        Case(
            message: .extendTimeout(.milliseconds(1500)),
            testDescription: "EXTEND_TIMEOUT_USEC=1500000"),
        Case(
            message: .status("two\nlines\r\nand más"), testDescription: "STATUS=two lines and más"),
    ]

    @Test(arguments: cases) func eachMessageHasItsLines(_ wanted: Case) {
        #expect(wanted.message.text == wanted.testDescription)
    }

    @Test func aLongStatusIsCutBetweenCharacters() {
        let text = Notification.status(String(repeating: "é", count: 5000)).text
        #expect(text.utf8.count <= Notification.statusLimit + "STATUS=".utf8.count)
        #expect(text.hasPrefix("STATUS=éé") && text.hasSuffix("é…"))
    }
}

@Suite struct NotifyEnvironmentTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let variables: [String: String]
        var socket: SocketAddress?
        var watchdog: Duration?
    }

    static let cases: [Case] = [
        Case(testDescription: "nobody listens", variables: [:]),
        Case(
            testDescription: "a socket in the file system",
            variables: ["NOTIFY_SOCKET": "/run/systemd/notify"],
            socket: .path("/run/systemd/notify")),
        Case(
            testDescription: "an abstract socket", variables: ["NOTIFY_SOCKET": "@notify"],
            socket: .abstract("notify")),
        Case(
            testDescription: "a kind of socket that is not known",
            variables: ["NOTIFY_SOCKET": "vsock:2:1234"]),
        Case(
            testDescription: "a watchdog for whoever runs",
            variables: ["WATCHDOG_USEC": "60000000"], watchdog: .seconds(60)),
        Case(
            testDescription: "a watchdog for us",
            variables: ["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "42"], watchdog: .seconds(3)),
        Case(
            testDescription: "a watchdog for another process",
            variables: ["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "43"]),
        Case(testDescription: "nonsense", variables: ["WATCHDOG_USEC": "soon"]),
        Case(testDescription: "zero is off", variables: ["WATCHDOG_USEC": "0"]),
    ]

    /// A child process must not send messages for the daemon.
    @Test func theVariablesAreRemovedFromTheEnvironment() {
        unsafe setenv("NOTIFY_SOCKET", "/nowhere", 1)
        unsafe setenv("WATCHDOG_USEC", "1000000", 1)
        unsafe setenv("WATCHDOG_PID", "\(getpid())", 1)
        let taken = NotifyEnvironment.readAndUnset()
        #expect(taken.socket == .path("/nowhere") && taken.watchdog == .seconds(1))
        for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] {
            #expect(unsafe getenv(name) == nil)
        }
    }

    @Test(arguments: cases) func theSocketAndTheWatchdogAreReadFromVariables(_ wanted: Case) {
        let found = NotifyEnvironment(processID: 42) { wanted.variables[$0] }
        #expect(found.socket == wanted.socket)
        #expect(found.watchdog == wanted.watchdog)
    }
}

/// Messages to a service manager, which is a socket of the test.
@Suite(.timeLimit(.minutes(5))) struct NotifySocketTests {
    @Test func messagesOfOneCallAreOneDatagram() throws {
        let folder = try TemporaryFolder()
        let address = SocketAddress.path(folder("notify"))
        let listener = try DatagramListener(address)
        let socket = try NotifySocket(address)
        try socket.send([.ready, .status("all is well")])
        try socket.send([])
        try socket.send([.watchdog])
        #expect(try listener.next() == "READY=1\nSTATUS=all is well")
        #expect(try listener.next() == "WATCHDOG=1")
    }

    @Test func anAbstractSocketIsReachedToo() throws {
        let folder = try TemporaryFolder()
        let address = SocketAddress.abstract("killswitchd-test\(folder.path)")
        let listener = try DatagramListener(address)
        try NotifySocket(address).send([.stopping])
        #expect(try listener.next() == "STOPPING=1")
    }

    @Test func aServiceManagerThatTakesNothingIsNotWaitedFor() throws {
        let folder = try TemporaryFolder()
        let address = SocketAddress.path(folder("notify"))
        let listener = try DatagramListener(address)
        let socket = try NotifySocket(address)
        let error = try #require(throws: SystemError.self) {
            for _ in 0..<100_000 { try socket.send([.watchdog]) }
        }
        #expect(error.isReceiverFull)
        #expect("\(error)" == "send to '\(address)': resource temporarily unavailable")
        withExtendedLifetime(listener) {}
    }

    @Test func aServiceManagerThatIsGoneIsAnError() throws {
        let folder = try TemporaryFolder()
        let socket = try NotifySocket(.path(folder("nothing")))
        #expect(throws: SystemError.self) { try socket.send([.ready]) }
        let tooLong = try NotifySocket(.path("/" + String(repeating: "x", count: 200)))
        #expect(throws: SystemError.self) { try tooLong.send([.ready]) }
    }
}

/// The datagrams to journald, byte for byte.
@Suite(.timeLimit(.minutes(5))) struct JournalSocketTests {
    private func written(_ entry: JournalEntry) throws -> String {
        let folder = try TemporaryFolder()
        let address = SocketAddress.path(folder("socket"))
        let listener = try DatagramListener(address)
        try JournalSocket(identifier: "test", at: address).write(entry)
        return try #require(try listener.next())
    }

    @Test func anEntryIsALineForEachField() throws {
        let entry = JournalEntry(
            .warning, "shop: ended", messageID: "00112233445566778899aabbccddeeff",
            fields: [Field("KILLSWITCH_STATE", "ended"), Field("KILLSWITCH_DAYS_LEFT", "0")])
        #expect(
            try written(entry) == """
                MESSAGE=shop: ended
                PRIORITY=4
                SYSLOG_IDENTIFIER=test
                MESSAGE_ID=00112233445566778899aabbccddeeff
                KILLSWITCH_STATE=ended
                KILLSWITCH_DAYS_LEFT=0

                """)
    }

    /// Without the length a value could add fields of its own.
    @Test func aValueOfSeveralLinesHasItsLengthBefore() throws {
        let text = try written(JournalEntry(.info, "one\nPRIORITY=0"))
        #expect(
            text == "MESSAGE\n\u{0E}\0\0\0\0\0\0\0one\nPRIORITY=0\nPRIORITY=6\n"
                + "SYSLOG_IDENTIFIER=test\n")
    }

    @Test func aLongValueIsCutBetweenCharacters() throws {
        let text = try written(JournalEntry(.info, "x" + String(repeating: "é", count: 50_000)))
        let value = try #require(text.split(separator: "\n").first?.dropFirst("MESSAGE=".count))
        #expect(value.utf8.count == JournalEntry.valueLimit - 1)
        #expect(value.allSatisfy { $0 == "x" || $0 == "é" })
    }

    @Test func whatAJournalThatIsGoneDoesNotTakeGoesAheadOfTheNextEntry() throws {
        let folder = try TemporaryFolder()
        let address = SocketAddress.path(folder("socket"))
        let journal = try JournalSocket(identifier: "test", at: address)
        for number in 0..<3 { journal.write(JournalEntry(.info, "kept \(number)")) }
        let listener = try DatagramListener(address)
        journal.write(JournalEntry(.info, "next"))
        for word in ["kept 0", "kept 1", "kept 2", "next"] {
            #expect(try listener.next()?.hasPrefix("MESSAGE=\(word)\n") == true)
        }
        #expect(try listener.next(within: 0) == nil)
    }

    /// The last entry of a closing that stops many units finds journald busy, and no other may follow for hours.
    @Test func aFullJournalIsNotWaitedForAndHasEachEntryInTheEnd() throws {
        let folder = try TemporaryFolder()
        let address = SocketAddress.path(folder("socket"))
        let listener = try DatagramListener(address)
        let journal = try JournalSocket(identifier: "test", at: address)
        let loop = try EventLoop()
        try journal.retry(on: loop)
        let total = 1000
        for number in 0..<total { journal.write(JournalEntry(.info, "entry \(number)")) }
        var received = 0
        while received < total {
            if let text = try listener.next(within: 0) {
                #expect(text.hasPrefix("MESSAGE=entry \(received)\n"))
                received += 1
            } else {
                try loop.runOnce(.seconds(60))
            }
        }
        try loop.runOnce(.milliseconds(50))
        #expect(try listener.next(within: 0) == nil)
    }

    /// How many datagrams a socket of this host holds at least, unix(7).
    private func queueCapacity() throws -> Int {
        let bytes = try File.read("/proc/sys/net/unix/max_dgram_qlen", limit: 64)
        return try #require(Int(String(decoding: bytes.dropLast(), as: UTF8.self)))
    }

    @Test func atTheEndAFullJournalHasASecondToTakeTheRest() throws {
        let folder = try TemporaryFolder()
        let address = SocketAddress.path(folder("socket"))
        let listener = try DatagramListener(address)
        let journal = try JournalSocket(identifier: "test", at: address)
        var count = 0
        func drain() throws { while try listener.next(within: 0) != nil { count += 1 } }
        let capacity = try queueCapacity()
        for number in 0..<3 * capacity { journal.write(JournalEntry(.info, "entry \(number)")) }
        while count < 3 * capacity {
            let before = count
            journal.finish()
            try drain()
            #expect(count > before)
        }
    }

    @Test func theOldestOfTooManyEntriesAreDroppedAndCounted() throws {
        let folder = try TemporaryFolder()
        let address = SocketAddress.path(folder("socket"))
        let journal = try JournalSocket(identifier: "test", at: address)
        let padding = String(repeating: "x", count: 4000)
        let total = 2 * JournalSocket.limit / padding.utf8.count
        for number in 0..<total { journal.write(JournalEntry(.info, "\(number) \(padding)")) }
        let listener = try DatagramListener(address)
        let loop = try EventLoop()
        try journal.retry(on: loop)
        let report = try #require(try listener.next())
        let count = try #require(Int(report.dropFirst("MESSAGE=".count).prefix(while: \.isNumber)))
        #expect(
            report.hasPrefix(
                "MESSAGE=\(count) entries were dropped that the journal did not take\nPRIORITY=4"))
        #expect(count > total / 2 && count < total / 2 + total / 10)
        for number in count..<total {
            let next = try listener.next(within: 0)
            if next == nil { try loop.runOnce(.seconds(60)) }
            #expect(try (next ?? listener.next())?.hasPrefix("MESSAGE=\(number) x") == true)
        }
    }

    @Test func anEntryThatNoSocketTakesIsDroppedAndDelaysNoOther() throws {
        let folder = try TemporaryFolder()
        let address = SocketAddress.path(folder("socket"))
        let listener = try DatagramListener(address)
        let journal = try JournalSocket(identifier: "test", at: address)
        let value = String(repeating: "x", count: JournalEntry.valueLimit)
        let fields = (0..<256).map { Field("FIELD_\($0)", value) }
        journal.write(JournalEntry(.info, "large", fields: fields))
        journal.write(JournalEntry(.info, "small"))
        let lost = "MESSAGE=1 entry was dropped that the journal did not take\n"
        #expect(try listener.next()?.hasPrefix(lost) == true)
        #expect(try listener.next()?.hasPrefix("MESSAGE=small\n") == true)
    }
}
