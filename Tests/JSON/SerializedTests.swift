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
