import Decision
import Fleet
import Testing

@Suite struct InventoryTests {
    @Test func aNameALineWithComments() throws {
        let inventory = try Inventory(
            "# the shop\nweb-1 # rack 4\r\n\n  WEB-2:9100\n[::1]:9100\nweb-1\n")
        #expect(inventory.names == ["web-1", "web-2:9100", "[::1]:9100"])
    }

    @Test func aHostMayBeInAPartOfTheSlots() throws {
        let inventory = try Inventory(
            "till-1  50%-100%  # the last\r\nTILL-2\t50%-100%\ncanary 0%-0.5%\nweb-1\ncanary 0%-0.5%\n"
        )
        #expect(inventory.names == ["till-1", "till-2", "canary", "web-1"])
        #expect(inventory.part(of: "till-2").text == "50%-100%")
        #expect(inventory.part(of: "canary").text == "0%-0.5%")
        #expect(inventory.part(of: "web-1") == .all)
    }

    @Test func aLineMaySayWhatOthersCallTheHost() throws {
        let inventory = try Inventory(
            "web-1 id=4ec1\nTILL-2 50%-100% id=77 # late\ntill-3 id=78 0%-50%\n")
        #expect(inventory.names == ["web-1", "till-2", "till-3"])
        #expect(inventory.part(of: "till-2").text == "50%-100%")
        #expect(inventory.part(of: "till-3").text == "0%-50%")
    }

    /// A comment once went on to the end of such a file, so that the hosts after it were not missed.
    @Test func theLineEndsOfWindowsEndLines() throws {
        let inventory = try Inventory("# the shop\r\nweb-1 # rack 4\r\n\r\nweb-2\r\nweb-3\r\n")
        #expect(inventory.names == ["web-1", "web-2", "web-3"])
        let mistake = #expect(throws: Inventory.Mistake.self) {
            try Inventory("web-1\r\nweb 2\r\n")
        }
        #expect(mistake?.line == 2)
    }

    @Test func aWrongLineIsToldInAFewCharacters() {
        let mistake = #expect(throws: Inventory.Mistake.self) {
            try Inventory("a" + String(repeating: "\u{301}", count: 100_000))
        }
        #expect(mistake?.description.utf8.count ?? 0 < 300)
    }

    @Test(
        arguments: [
            ("web 1\n", 1, "'web 1' is not the name of a host; write one a line"),
            (
                "web-1\nweb-2\u{1B}[0m\n", 2,
                "'web-2\u{FFFD}[0m' is not the name of a host; write one a line"
            ),
            ("web-1, web-2", 1, "'web-1, web-2' is not the name of a host; write one a line"),
            (
                "web-1 100%-50%", 1,
                "'100%-50%' is not a part of the slots; write two percentages, the lower one first, such as 50%-100%"
            ), ("50%-100%", 1, "'50%-100%' is not the name of a host; write one a line"),
            ("a 0%-50%\na", 2, "'a' has another part in an earlier line"),
            ("a\nA 0%-50%", 2, "'A' has another part in an earlier line"),
            ("a id=1\nb id=1", 2, "the id of 'b' is that of 'a' in an earlier line"),
            ("a id=", 1, "'a id=' is not the name of a host; write one a line"),
            ("a id=1 id=2", 1, "'a id=1' is not the name of a host; write one a line"),
            ("\n# nobody\n", nil, "it names no host"), ("", nil, "it names no host"),
        ] as [(String, Int?, String)])
    func aWrongLineIsNamed(_ text: String, _ line: Int?, _ words: String) {
        let mistake = #expect(throws: Inventory.Mistake.self) { try Inventory(text) }
        #expect(mistake?.line == line)
        #expect(mistake?.description == words)
    }
}
