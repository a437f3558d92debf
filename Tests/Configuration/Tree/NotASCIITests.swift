import Configuration
import Testing

/// The tables of toml++ up to 3.4.0 have a place that it calls unreachable, and reaches when it asks whether a letter
/// such as "ä" is a blank: outside of strings, and in long strings around a backslash that ends a line. `CToml` has
/// another answer: no. `make fuzz` ends where such a place is reached.
struct NotASCIITests {
    /// A letter of each range for which the place was reached, and neighbours of one, two, three and four bytes.
    static let letters = [
        "a", "\u{80}", "\u{A0}", "ä", "ÿ", "Ж", "\u{499}", "\u{49A}", "\u{7FF}", "\u{800}",
        "\u{1680}", "\u{2003}",
        "“", "\u{2C5E}", "、", "\u{3000}", "の", "\u{3057}", "日", "\u{FB26}", "\u{FEFE}", "\u{FEFF}",
        "\u{FFFD}",
        "🙂", "\u{10FFFF}",
    ]

    private func table(_ text: String) throws(Diagnostic) -> Table {
        try Table(toml: Array(text.utf8), file: "f")
    }

    @Test(arguments: letters) func aLongStringGoesOnWithAnyLetter(_ letter: String) throws {
        for end in ["\n", "\r\n", " \t\n", "\n\n \r\n"] {
            let root = try table("x = \"\"\"a\\\(end) \(letter)b\\\(end)\(letter)\\\(end)\"\"\"")
            #expect(root["x"]?.node.value == .string("a\(letter)b\(letter)"))
        }
    }

    @Test(arguments: letters) func whatFollowsTheStringKeepsItsPlace(_ letter: String) throws {
        let root = try table("x = ['''\n''', \"\"\"\\\n\n  \(letter)\"\"\", { y = 1 }]\nz = 2")
        guard case .array(let elements) = root["x"]?.node.value else {
            Issue.record("x is no array")
            return
        }
        #expect(elements[1].value == .string(letter))
        #expect(elements[2].origin == Origin(file: "f", line: 4, column: 9))
        #expect(root["z"]?.keyOrigin == Origin(file: "f", line: 5, column: 1))
        #expect(
            errors(in: "x = \"\"\"\\\n \(letter)\"\"\" y")
                == "f:2:7: syntax error in key-value pair: expected a comment or whitespace, saw 'y'"
        )
    }

    @Test(arguments: [
        (
            "x = ä",
            "1:5: syntax error in value: could not determine value type; a text needs quotes"
        ),
        (
            "x = “a”",
            "1:5: syntax error in value: could not determine value type; a text needs quotes"
        ),
        ("x = 1日", "1:6: syntax error in decimal integer: expected digit, saw '日'"),
        (
            "ä = 1",
            "1:1: syntax error in root table: expected keys, tables, whitespace or comments, saw 'ä'"
        ),
        ("xä = 1", "1:2: syntax error in key-value pair: expected '=', saw 'ä'"),
        (
            "x = '\u{FFFD}' ä",
            "1:9: syntax error in key-value pair: expected a comment or whitespace, saw 'ä'"
        ),
        // The parser looks ahead in a value, over quotes.
        (
            "x = 2027-01-41T00:\"ä\"",
            "1:15: syntax error in date: expected day between 1 and 31 (inclusive), saw 41"
        ),
        ("x=2[='ä'", "1:4: syntax error in decimal integer: expected digit, saw '['"),
        ("x = \"\"\"\\ä\"\"\"", "1:9: syntax error in string: unknown escape sequence '\\ä'"),
        (
            "x = \"\"\"\\ ä\"\"\"",
            "1:10: syntax error in string: line-ending backslashes must be the last non-whitespace character on the line"
        ),
        (
            "x = 1 y\nz = ä",
            "1:7: syntax error in key-value pair: expected a comment or whitespace, saw 'y'"
        ),
        (
            "x = 'ä\n'ö",
            "1:7: syntax error in literal string: control characters other than TAB (U+0009) are explicitly prohibited"
        ),
    ])
    func aLetterOutsideOfQuotesIsNamed(_ text: String, _ error: String) {
        #expect(errors(in: text) == "f:\(error)")
    }

    /// The length of a string and the places in it are those of the file, wherever the blocks of the parser end.
    @Test func lettersLieAnywhereInABlock() throws {
        for offset in 0..<70 {
            let start = String(repeating: "a", count: offset)
            let root = try table("x = \"\"\"\(start)\\\n日本\"\"\"")
            #expect(root["x"]?.node.value == .string("\(start)日本"))
            #expect(errors(in: "x = '\(start)'ö").contains("saw 'ö'"))
        }
    }

    @Test(.timeLimit(.minutes(5))) func manyLettersAreReadInTimeThatGrowsWithTheirNumber() throws {
        let text = String(repeating: "\\\nä", count: 200_000)
        let root = try table("x = \"\"\"\(text)\"\"\"\ny = 1")
        #expect(root["x"]?.node.value == .string(String(repeating: "ä", count: 200_000)))
        #expect(root["y"]?.keyOrigin == Origin(file: "f", line: 200_002, column: 1))
    }
}
