import Systemd
import Testing

/// The text of the messages to the service manager.
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
