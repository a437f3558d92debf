import POSIX
import Support
import Systemd
import Testing

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

    @Test func entriesThatAStoppedJournalDropsAreCountedAndReportedLater() throws {
        let folder = try TemporaryFolder()
        let address = SocketAddress.path(folder("socket"))
        let journal = try JournalSocket(identifier: "test", at: address)
        for number in 0..<3 { journal.write(JournalEntry(.info, "lost \(number)")) }
        let listener = try DatagramListener(address)
        journal.write(JournalEntry(.info, "heard"))
        let count = try #require(try listener.next())
        #expect(
            count.hasPrefix("MESSAGE=3 entries were dropped, for the journal took none\nPRIORITY=4")
        )
        #expect(try listener.next()?.hasPrefix("MESSAGE=heard\n") == true)
        journal.reportLosses()
        journal.write(JournalEntry(.info, "again"))
        #expect(try listener.next()?.hasPrefix("MESSAGE=again\n") == true)
        #expect(try listener.next(within: 0) == nil)
    }

    @Test func aFrozenJournalIsNotWaitedFor() throws {
        let folder = try TemporaryFolder()
        let address = SocketAddress.path(folder("socket"))
        let listener = try DatagramListener(address)
        let journal = try JournalSocket(identifier: "test", at: address)
        let total = 5000
        for number in 0..<total { journal.write(JournalEntry(.info, "entry \(number)")) }
        var received = 0
        while try listener.next(within: 0) != nil { received += 1 }
        #expect(received > 0 && received < total)
        journal.reportLosses()
        #expect(try listener.next()?.hasPrefix("MESSAGE=\(total - received) entries") == true)
    }
}
