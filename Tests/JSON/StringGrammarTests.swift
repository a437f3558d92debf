import JSON
import Testing

/// RFC 8259 §7 and §8.2: how a string is spelled.
struct StringGrammarTests {
    @Test func everyCodeUnitEscapedIsItsCharacterOrALoneSurrogate() throws {
        for unit in UInt16.min ... .max {
            let digits = String(unit, radix: 16)
            let escape = "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            let document = Array("\"\(escape)\"".utf8)
            if let scalar = Unicode.Scalar(unit) {
                try #require(try Value.parse(document) == .string(String(scalar)))
            } else {
                let error = try #require(refusal(of: document))
                try #require(error.description.hasPrefix("lone surrogate '\(escape)' at"))
                try #require(error.offset == 1)
            }
        }
    }

    @Test func everyByteMayFollowABackslashOnlyIfItIsAnEscape() {
        let accepted = (UInt8.min...0x7F).filter { byte in
            refusal(of: Array("\"\\".utf8) + [byte] + Array("\"".utf8)) == nil
        }
        #expect(String(decoding: accepted, as: UTF8.self) == #""/\bfnrt"#)
    }

    @Test func everyControlCharacterIsRefusedAndEverythingElseStandsForItself() throws {
        for byte in UInt8.min...0x7F where byte != UInt8(ascii: "\"") {
            guard byte != UInt8(ascii: "\\") else { continue }
            let scalar = Unicode.Scalar(byte)
            let document = Array("[\"a\(scalar)b\"]".utf8)
            guard byte < 0x20 else {
                try #require(try Value.parse(document) == [.string("a\(scalar)b")])
                continue
            }
            let error = try #require(refusal(of: document))
            let digits = String(byte, radix: 16, uppercase: true)
            let problem =
                byte == 0x0A
                ? "line 1: a string has no '\"' at its end before the line ends"
                : "unexpected U+\(byte < 0x10 ? "000" : "00")\(digits) at line 1, column 4: "
                    + "expected control characters in a string to be escaped"
            try #require(error.description == problem)
            try #require(error.offset == 3)
        }
    }

    static let accepted: [Accepted] = [
        Accepted("§7 the empty string", #""""#, ""),
        Accepted("§7 every short escape", #""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
        Accepted("§7 an escape between plain runs", #""a\nb""#, "a\nb"),
        Accepted("§7 an escaped backslash before the end", #""\\""#, "\\"),
        Accepted("§7 an escaped backslash before a letter", #""\\n""#, "\\n"),
        Accepted("§7 an escaped backslash before u", #""\\u0041""#, "\\u0041"),
        Accepted("§7 an ASCII letter escaped", #""\u0041""#, "A"),
        Accepted(
            "§7 hexadecimal digits in both cases", #""\u00e9\u00E9\uABCD\uabcd""#,
            "éé\u{ABCD}\u{ABCD}"),
        Accepted("§7 a digit after an escape", #""\u00412""#, "A2"),
        Accepted("§7 an escaped quote", #""\u0022""#, "\""),
        Accepted("§7 an escaped NUL", #""\u0000""#, "\0"),
        Accepted("§7 a NUL among letters", #""a\u0000b""#, "a\0b"),
        Accepted("§7 a surrogate pair", #""\ud834\udd1e""#, "𝄞"),
        Accepted("§7 a surrogate pair in capitals", #""\uD834\uDD1E""#, "𝄞"),
        Accepted(
            "§7 the first and the last pair", #""\ud800\udc00\udbff\udfff""#, "\u{10000}\u{10FFFF}"),
        Accepted("§7 characters next to the surrogates", #""\ud7ff\ue000""#, "\u{D7FF}\u{E000}"),
        Accepted("§7 a delete character", "\"\u{7F}\"", "\u{7F}"),
        Accepted("§7 single quotes and slashes", #""'/'""#, "'/'"),
        Accepted("§7 a comment that is text", #""/* no */ // no""#, "/* no */ // no"),
        Accepted("§7 a line separator", "\"\u{2028}\u{2029}\"", "\u{2028}\u{2029}"),
        Accepted("§7 a byte order mark inside", "\"\u{FEFF}\"", "\u{FEFF}"),
        Accepted("§7 an escaped key", #"{"\u0061\n":1}"#, ["a\n": 1]),
        Accepted("§8.1 characters of two, three and four bytes", #""é€𝄞""#, "é€𝄞"),
        Accepted("§8.1 the largest character", "\"\u{10FFFF}\"", "\u{10FFFF}"),
        Accepted("§8.1 a replacement character", "\"\u{FFFD}\"", "\u{FFFD}"),
        Accepted("§8.1 characters and escapes mixed", #""é\u00e9𝄞\ud834\udd1e""#, "éé𝄞𝄞"),
        Accepted("§8.3 a combining mark after the quote", "\"\u{301}\"", "\u{301}"),
    ]

    private static let unfinished = "line 1: the document ends inside a string"

    private static func lone(_ unit: String, _ column: Int) -> String {
        "lone surrogate '\\\(unit)' at line 1, column \(column): expected a pair, high before low"
    }

    static let refused: [Refused] = [
        Refused("§7 no end", #""abc"#, at: 4, unfinished),
        Refused("§7 no end after an escape", #""a\n"#, at: 4, unfinished),
        Refused("§7 a quote alone", "\"", at: 1, unfinished),
        Refused("§7 an escaped end", #""abc\""#, at: 6, unfinished),
        Refused("§7 the end after a backslash", #""\"#, at: 2, #"end of input"#, expected: .escape),
        Refused("§7 single quotes", "'a'", at: 0, "\"'\"", expected: .value),
        Refused("§7 typographic quotes", "“a”", at: 0, "U+201C", expected: .value),
        Refused(
            "§7 a line feed", "[\"a\nb\"]", at: 3,
            "line 1: a string has no '\"' at its end before the line ends"),
        Refused(
            "§7 a document that ends in a string, with a line feed", "[\"a\n\n", at: 3, unfinished),
        Refused("§7 a tab after an escape", "\"\\t\t\"", at: 3, "U+0009", expected: .control),
        Refused("§7 a NUL", "\"a\0\"", at: 2, "U+0000", expected: .control),
        Refused("§7 an unknown escape", #""\x41""#, at: 2, #"'x'"#, expected: .escape),
        Refused("§7 an escaped single quote", #""\'""#, at: 2, #""'""#, expected: .escape),
        Refused("§7 an escape in capitals", #""\N""#, at: 2, #"'N'"#, expected: .escape),
        Refused("§7 an escaped line feed", "\"\\\n\"", at: 2, #"U+000A"#, expected: .escape),
        Refused(
            "§7 an escaped letter beyond ASCII", #""\é""#, at: 2, #"U+00E9"#, expected: .escape),
        Refused(
            "§7 an escape in capitals before digits", #""\U0041""#, at: 2, #"'U'"#,
            expected: .escape),
        Refused("§7 three digits", #""\u004""#, at: 6, "'\"'", expected: .digits),
        Refused("§7 a digit that is none", #""\u00g1""#, at: 5, "'g'", expected: .digits),
        Refused("§7 a sign among the digits", #""\u+041""#, at: 3, "'+'", expected: .digits),
        Refused("§7 braces around the digits", #""\u{41}""#, at: 3, "'{'", expected: .digits),
        Refused("§7 full-width digits", #""\u００41""#, at: 3, "U+FF10", expected: .digits),
        Refused("§7 the end among the digits", #""\u00"#, at: 5, "end of input", expected: .digits),
        Refused("§8.2 a high surrogate alone", #""a\ud800""#, at: 2, lone("ud800", 3)),
        Refused("§8.2 a low surrogate alone", #""\uDC00""#, at: 1, lone("udc00", 2)),
        Refused("§8.2 a pair the wrong way round", #""\udd1e\ud834""#, at: 1, lone("udd1e", 2)),
        Refused("§8.2 two high surrogates", #""\ud834\ud834\udd1e""#, at: 1, lone("ud834", 2)),
        Refused("§8.2 a high surrogate before a letter", #""\ud834a""#, at: 1, lone("ud834", 2)),
        Refused(
            "§8.2 a high surrogate before another escape", #""\ud834\n""#, at: 1, lone("ud834", 2)),
        Refused(
            "§8.2 a high surrogate before an escaped letter", #""\ud834\u0041""#, at: 1,
            lone("ud834", 2)),
        Refused(
            "§8.2 a high surrogate before half an escape", #""\ud834\u00""#, at: 11, "'\"'",
            expected: .digits),
        Refused("§8.2 a lone surrogate in a key", #"{"\ud800":1}"#, at: 2, lone("ud800", 3)),
        Refused(
            "§8.2 a low surrogate after a pair", #""\ud834\udd1e\udd1e""#, at: 13, lone("udd1e", 14)
        ),
    ]
}
