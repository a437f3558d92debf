import Configuration
import Decision
import Testing

/// A file was refused for more than 250 dots in a line, wherever they were: 84 addresses of IPv4 in one
/// array were too many, and so was a comment with a long row of dots. Only the dots of keys make tables in
/// tables, so only they are limited.
struct DottedKeyTests {
    private static let dots = String(repeating: ".", count: 1_000)

    /// Values of the context, and comments.
    static let valid = [
        (
            "addresses of IPv4",
            "x = [\((0..<300).map { "'192.0.2.\($0 % 256)'" }.joined(separator: ", "))]"
        ),
        ("fractions", "x = [\(repeatElement("1.5", count: 300).joined(separator: ","))]"),
        ("a comment", "x = 1 # \(dots)\n#\(dots)"),
        ("a comment with quotes", "x = 1 # it's \"\"\" \(dots)\ny = '# \(dots)'"),
        ("a basic string", #"x = "\"\#(dots)\\" # "# + "'"),
        ("a literal string", #"x = '\"\#(dots)\' # "# + "\""),
        ("empty strings", "x = ['', \"\", '''''', \"\"\"\"\"\"] # '\ny = \"\(dots)\""),
        (
            "a long basic string",
            "x = \"\"\"\"\(dots)\"\"\\\"\"\"\(dots)\n# \(dots)\"\"\"\"\" # \(dots)"
        ),
        ("a long literal string", "x = '''\(dots)\n''\(dots)\\'\n# \(dots)''''' # \(dots)"),
        ("a quoted key", "\"\(dots)\" = 1\n'\(dots)\".' = 2"),
        ("lines that end in CR LF", "x = 1 # \(dots)\r\ny = '''\(dots)\r\n'''\r\n"),
        ("many short keys", "x = { \((0..<300).map { "a\($0).b = 1" }.joined(separator: ", ")) }"),
        ("underscores in a string", "x = '2024-01-01\(String(repeating: "_", count: 116)) 1'"),
    ]

    @Test(arguments: valid)
    func dotsOutsideOfKeysAreNotCounted(_ name: String, _ text: String) throws {
        let settings = try load(
            """
            [source.app]
            type = "ofrep"
            url = "https://flags.example.com"
            [service.shop]
            source = "app"
            format = "status"
            [source.app.context]
            \(text)
            """)
        #expect(settings.sources.count == 1)
    }

    private static let key = repeatElement("a", count: 100_000).joined(separator: ".")

    /// What comes before a key of 100,000 parts, and the place of its 32nd dot.
    static let hostile = [
        (before: "", place: "1:64"),
        (before: "[", place: "1:65"),
        (before: "[[", place: "1:66"),
        (before: "x = {", place: "1:69"),
        (before: "x = [{ y = 1, ", place: "1:78"),
        (before: "x = [ # '\n{", place: "2:65"),
        (before: "x = [''''''', \"\\\"\"]\n", place: "2:64"),
        (before: "x = \"\"\"\n\\\"\"\"\"\"\"\n", place: "3:64"),
        (before: "x = { 'ä' = 1, ", place: "1:79"),
    ]

    @Test(.timeLimit(.minutes(5)), arguments: hostile)
    func aKeyOfManyPartsIsAnErrorWithItsPlace(before: String, place: String) {
        #expect(
            errors(in: before + Self.key + " = 1")
                == "f:\(place): syntax error: key of more than 32 parts")
    }

    @Test(.timeLimit(.minutes(5)), arguments: ["\"a\"", "'a.b'", " a ", "\t\"\\\".\" "])
    func aKeyOfManyPartsMayBeWrittenInManyWays(part: String) {
        let key = repeatElement(part, count: 100_000).joined(separator: ".")
        for text in ["\(key) = 1", "[\(key)]", "x = { \(key) = 1 }"] {
            let printed = errors(in: text)
            #expect(printed.hasPrefix("f:1:"))
            #expect(printed.hasSuffix(": syntax error: key of more than 32 parts"))
        }
    }

    @Test func aKeyMayHaveAsManyPartsAsThereAreLevels() {
        func printed(parts: Int) -> String {
            errors(in: "\(repeatElement("a", count: parts).joined(separator: ".")) = 1")
        }
        #expect(printed(parts: 32).hasPrefix("f:1:1: unknown key 'a'"))
        #expect(printed(parts: 33) == "f:1:64: syntax error: key of more than 32 parts")
    }

    /// As deep as the parser ever gets: keys of 32 parts in as many inline tables as it reads.
    @Test func longKeysInNestedTablesAreAnErrorWithTheirPlace() {
        let key = repeatElement("a", count: 32).joined(separator: ".")
        let printed = errors(
            in: "[\(key)]\n" + String(repeating: "\(key) = {", count: 31) + "\(key) = 1"
                + String(repeating: "}", count: 31))
        #expect(printed.hasPrefix("f:2:"))
        #expect(printed.hasSuffix(": syntax error: more than 32 levels of tables and arrays"))
    }

    /// The dots are counted before the parser runs, so both must agree on where strings and comments end.
    /// If they did not for one of these files, the parser would overflow the stack and end the tests.
    @Test(.timeLimit(.minutes(5)), arguments: 0..<8 as Range<UInt64>)
    func noTextHidesAKeyOfManyParts(_ seed: UInt64) {
        let tokens = [
            "\"", "'", "\"\"\"", "'''", "\\", "\\\\", "\\\"", "#", "\n", "\r\n", "\r", "x", "y",
            " = ", "1", "[", "]", "{", "}", ", ", " ", ".", "ä", "\u{0B}", "\0", "y = 1 #",
            "x = '''", "'''\n", "x = \"\"\"", "\"\"\"\n",
        ]
        var random = SeededRandom(seed: seed)
        for _ in 0..<40 {
            let count = Int.random(in: 0...12, using: &random)
            let before = (0..<count).compactMap { _ in tokens.randomElement(using: &random) }
                .joined()
            for end in ["", "\n", "'\n", "\"\n", "'''\n", "\"\"\"\n"] {
                let printed = errors(in: before + end + Self.key + " = 1")
                #expect(printed.isEmpty || printed.hasPrefix("f:"))
            }
        }
    }
}

@Test(arguments: [
    ("", "", 0), ("", "abc", 3), ("abc", "abc", 0), ("interval", "intervall", 1),
    ("interval", "inteval", 1), ("interval", "intervql", 1), ("interval", "intreval", 1),
    ("ab", "ba", 1), ("ca", "abc", 3), ("kitten", "sitting", 3), ("größe", "große", 2),
    ("a", "ä", 2),
])
func theDistanceCountsEditsOfBytesAndSwapsOfNeighbours(
    _ word: String, _ other: String, distance: Int
) {
    let (left, right) = (Array(word.utf8), Array(other.utf8))
    #expect(editDistance(left, right, atMost: 10) == distance)
    #expect(editDistance(right, left, atMost: 10) == distance)
    #expect(editDistance(left, right, atMost: distance) == distance)
    #expect(editDistance(left, right, atMost: distance - 1) == nil)
}

@Test(
    arguments: [
        ("intervall", "interval"), ("intreval", "interval"), ("time_out", "timeout"),
        ("Type", "type"), ("tpye", "type"), ("interval", "interval"),
        ("colour", nil), ("", nil), ("x", nil), ("ty", nil), ("interval_between_polls", nil),
    ] as [(String, String?)])
func aWordIsNearIfAtMostAThirdOfItIsWrong(_ text: String, word: String?) {
    #expect(nearest(to: text, among: ["type", "interval", "timeout"]) == word)
}

@Test func ofEquallyNearWordsTheFirstIsSuggested() {
    #expect(nearest(to: "cat", among: ["bat", "car", "rat"]) == "bat")
    #expect(nearest(to: "catt", among: ["bat", "cat", "rat"]) == "cat")
}
