import JSON
import Testing

/// RFC 8259 §10: the written text.
struct SerializedTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let value: Value
        let text: String

        init(_ name: String, _ value: Value, _ text: String) {
            self.name = name
            self.value = value
            self.text = text
        }

        var testDescription: String { name }
    }

    @Test(arguments: [
        Row("words", [.null, true, false], "[null,true,false]"),
        Row(
            "numbers as they were written", [number("1.50"), number("-0"), number("1E+2")],
            "[1.50,-0,1E+2]"),
        Row("empty containers", [[], [:]], "[[],{}]"),
        Row("members in order", ["b": 1, "a": [2, 3]], #"{"b":1,"a":[2,3]}"#),
        Row("quotes and backslashes", #"say "\""#, #""say \"\\\"""#),
        Row("short escapes", "\u{8}\u{C}\n\r\t", #""\b\f\n\r\t""#),
        Row(
            "other control characters", "\0\u{1}\u{B}\u{1B}\u{1F}",
            #""\u0000\u0001\u000b\u001b\u001f""#),
        Row(
            "characters that a terminal does not show", "/\u{7F}\u{85}\u{202E}\u{2028}\u{E0041}",
            #""/\u007f\u0085\u202e\u2028\udb40\udc41""#),
        Row("nothing else escaped", "/'<>&é𝄞", #""/'<>&é𝄞""#),
        Row("escaped keys", ["a\n\"": 1], #"{"a\n\"":1}"#),
        Row("characters as they are composed", "\u{E9}e\u{301}", "\"\u{E9}e\u{301}\""),
    ])
    func compactTextHasNoWhiteSpace(row: Row) throws {
        let text = row.value.serialized()
        #expect(Array(text.utf8) == Array(row.text.utf8))
        #expect(try Value.parse(text) == row.value)
    }

    @Test func anOutlineHasOneMemberALineForTwoLevels() throws {
        let value: Value = [
            "service": "shop", "empty": [:],
            "values": ["list": [1, [2]], "object": ["a": ["b": []]], "text": "x"],
        ]
        let text = value.serialized(.outline)
        #expect(
            text == """
                {
                  "service": "shop",
                  "empty": {},
                  "values": {
                    "list": [1,[2]],
                    "object": {"a":{"b":[]}},
                    "text": "x"
                  }
                }
                """)
        #expect(try Value.parse(text) == value)
    }

    @Test func prettyTextHasOneMemberALine() throws {
        let value: Value = [
            "service": "shop", "days_left": .null, "values": [:], "windows": [],
            "switches": [["source": "app", "ok": true], 1, [[2]]],
        ]
        let text = value.serialized(.pretty)
        #expect(
            text == """
                {
                  "service": "shop",
                  "days_left": null,
                  "values": {},
                  "windows": [],
                  "switches": [
                    {
                      "source": "app",
                      "ok": true
                    },
                    1,
                    [
                      [
                        2
                      ]
                    ]
                  ]
                }
                """)
        #expect(try Value.parse(text) == value)
    }

    @Test(arguments: [.null, 1, "a", [], [:]] as [Value])
    func prettyTextOfOneTokenIsTheCompactOne(value: Value) {
        #expect(value.serialized(.pretty) == value.serialized(.compact))
    }

    @Test func everyCharacterComesBack() throws {
        let all = (0...0x10FFFF as ClosedRange<UInt32>).lazy.compactMap(Unicode.Scalar.init)
        var text = ""
        text.unicodeScalars.append(contentsOf: all)
        let value = Value.string(text)
        #expect(try Value.parse(value.serialized()) == value)
    }
}

/// Text from outside as terminals and logs show it.
@Suite struct PrintableTextTests {
    /// A text, and how it is shown.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        let shown: String

        var testDescription: String { name }
    }

    static let cases = [
        Case(name: "plain", text: "disk swap, ~2 h", shown: "disk swap, ~2 h"),
        Case(name: "Japanese", text: "保守中です。", shown: "保守中です。"),
        Case(name: "combining mark", text: "e\u{301}", shown: "e\u{301}"),
        Case(name: "emoji", text: "🚧", shown: "🚧"),
        Case(name: "no-break space", text: "2\u{A0}h", shown: "2\u{A0}h"),
        Case(name: "line feed", text: "a\nb", shown: "a b"),
        Case(name: "carriage return and line feed", text: "a\r\nb", shown: "a b"),
        Case(name: "NUL", text: "a\0b", shown: "a\u{FFFD}b"),
        Case(name: "escape sequence", text: "\u{1B}[2J", shown: "\u{FFFD}[2J"),
        Case(name: "delete", text: "a\u{7F}b", shown: "a\u{FFFD}b"),
        Case(name: "next line", text: "a\u{85}b", shown: "a\u{FFFD}b"),
        Case(name: "control sequence introducer", text: "\u{9B}2J", shown: "\u{FFFD}2J"),
        Case(name: "line separator", text: "a\u{2028}b", shown: "a\u{FFFD}b"),
        Case(name: "paragraph separator", text: "a\u{2029}b", shown: "a\u{FFFD}b"),
        Case(name: "right-to-left override", text: "a\u{202E}b", shown: "a\u{FFFD}b"),
        Case(name: "right-to-left isolate", text: "a\u{2067}b", shown: "a\u{FFFD}b"),
        Case(name: "right-to-left mark", text: "a\u{200F}b", shown: "a\u{FFFD}b"),
        Case(name: "Arabic letter mark", text: "a\u{61C}b", shown: "a\u{FFFD}b"),
        Case(name: "zero width space", text: "a\u{200B}b", shown: "a\u{FFFD}b"),
        Case(name: "byte order mark", text: "\u{FEFF}a", shown: "\u{FFFD}a"),
        Case(name: "tag", text: "a\u{E0041}", shown: "a\u{FFFD}"),
        Case(name: "private use", text: "a\u{E000}", shown: "a\u{FFFD}"),
        Case(name: "noncharacter", text: "a\u{FFFF}", shown: "a\u{FFFD}"),
    ]

    @Test(arguments: cases) func unprintableCharactersAreReplaced(_ example: Case) {
        #expect(Array(example.text.printable.unicodeScalars) == Array(example.shown.unicodeScalars))
    }

    @Test func everyControlAndEveryBidirectionalControlIsUnprintable() throws {
        let bidirectional =
            [0x61C, 0x200E, 0x200F] + Array(0x202A...0x202E) + Array(0x2066...0x2069)
        for value in Array(0...0x1F) + Array(0x7F...0x9F) + bidirectional {
            #expect(try !#require(Unicode.Scalar(UInt32(value))).isPrintable, "\(value)")
        }
        for value in 0x20...0x7E {
            #expect(try #require(Unicode.Scalar(UInt32(value))).isPrintable, "\(value)")
        }
    }

    @Test func aLongTextIsCutWithAnEllipsis() {
        #expect("shop".printable(limit: 4) == "shop")
        #expect("shops".printable(limit: 4) == "shop…")
        #expect("a\nb".printable(limit: 2, replacing: " ") == "a …")
    }
}
