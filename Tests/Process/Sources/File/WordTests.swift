import Support
import Testing

/// Flags that are one value alone: what a person types in a hurry, and what any service for flags can hold.
@Suite(.timeLimit(.minutes(5))) struct WordTests {
    private static let word = Daemon.shop.replacing("service-end", with: "switch")
    private static let boolean =
        Daemon.shop.replacing("service-end", with: "boolean") + "\nclosed_when = true"

    @Test func aStateWordAloneIsAnOrder() throws {
        let daemon = try Daemon(Self.word, flags: "running\n")
        try daemon.start(waitingFor: "running")
        for (text, state) in [
            ("maintenance\n", "maintenance"), ("\"ended\"\n", "ended"), ("running", "running"),
            ("  update-required\r\n", "update-required"),
            (#"{"state": "countdown"}"#, "countdown"),
        ] {
            try daemon.folder.write(text, to: "flags.json")
            try daemon.waitFor(state)
        }
        #expect(try daemon.stop() == 0)
    }

    /// What is no word of the format moves nothing, and is told once.
    @Test(arguments: ["OK", "", "<html>504</html>", "undecided", "true", "null", "in maintenance"])
    func whatIsNoStateIsNoOrder(text: String) throws {
        let daemon = try Daemon(Self.word, flags: "maintenance")
        try daemon.start(waitingFor: "maintenance")
        try daemon.folder.write(text, to: "flags.json")
        try daemon.waitUntil("status tells it") {
            try daemon.member("reason") == "\"invalid-answer\""
        }
        #expect(try daemon.member("state") == "\"maintenance\"")
        try daemon.folder.write("running", to: "flags.json")
        try daemon.waitFor("running")
        #expect(try daemon.stop() == 0)
    }

    @Test func aBooleanAloneIsAnOrder() throws {
        let daemon = try Daemon(Self.boolean, flags: "false")
        try daemon.start(waitingFor: "running")
        for (text, state) in [
            ("on\n", "maintenance"), ("off", "running"), ("true", "maintenance"), ("0", "running"),
            ("\"Yes\"", "maintenance"), ("n\n", "running"),
        ] {
            try daemon.folder.write(text, to: "flags.json")
            try daemon.waitFor(state)
        }
        #expect(try daemon.stop() == 0)
    }

    /// The stored word decides after a restart without the file.
    @Test func aWordIsStored() throws {
        let daemon = try Daemon(Self.boolean, flags: "on\n")
        try daemon.start(waitingFor: "maintenance")
        #expect(try daemon.stop() == 0)
        daemon.folder.remove("flags.json")
        try daemon.start()
        // The state file of the first run may still be there.
        try daemon.waitFor(line: "set by its stored flags")
        #expect(try daemon.member("state") == "\"maintenance\"")
        let shown = try daemon.control("explain", "shop")
        #expect(shown.output.contains("boolean, source 'shop'"), "\(shown)")
        #expect(shown.output.contains("  flags   \"on\"\n"), "\(shown)")
        #expect(try daemon.stop() == 0)
    }

    /// A format that reads keys takes no word, as before, and no default takes its place.
    @Test func aWordIsNoFlagOfAnotherFormat() throws {
        let daemon = try Daemon(
            """
            [source.app]
            type = "file"
            path = "flags.json"
            [source.app.defaults]
            service_end = "over"
            """ + Daemon.service(on: "app", #"min_closed = "0s""#)
                + Daemon.service("mail", on: "app", format: "switch"))
        try daemon.start(waitingFor: "running")
        try daemon.folder.write("maintenance", to: "flags.json")
        try daemon.waitUntil("the other service obeys") {
            try daemon.member("state", of: "mail") == "\"maintenance\""
        }
        #expect(try daemon.member("state") == "\"running\"")
        try daemon.waitFor(line: "key 'service_end' is missing: the answer is one value alone")
        #expect(try daemon.stop() == 0)
    }

    @Test func aKeyWithAnyNameIsABoolean() throws {
        let daemon = try Daemon(
            Daemon.shop.replacing("service-end", with: "boolean")
                + "\nkey = \"shop-enabled\"\nclosed_when = false\nclosed_state = \"ended\"",
            flags: #"{"shop-enabled": true}"#)
        try daemon.start(waitingFor: "running")
        try daemon.folder.write(#"{"shop-enabled": "off"}"#, to: "flags.json")
        try daemon.waitFor("ended")
        try daemon.folder.write(#"{"shop-enabled": 1}"#, to: "flags.json")
        try daemon.waitFor(line: "key 'shop-enabled' is a number, not a Boolean")
        #expect(try daemon.member("state") == "\"ended\"")
        #expect(try daemon.stop() == 0)
    }

    /// `2099-12-31T23:59`, as forms for dates write it, was a countdown without an end.
    @Test func anEndInMinutesIsAnEnd() throws {
        let daemon = try Daemon(
            flags: #"{"service_end": "countdown", "service_countdown": "2099-12-31T23:59"}"#)
        try daemon.start(waitingFor: "countdown")
        #expect(try daemon.member("ends_at") == "\"2099-12-31T23:59:00+09:00\"")
        #expect(try daemon.stop() == 0)
    }
}
