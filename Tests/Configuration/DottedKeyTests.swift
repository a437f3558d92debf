import Configuration
import Decision
import Testing

/// Each part of a dotted key is a table in a table, for which the parser calls itself: a key of 100,000 parts would
/// overflow the stack and end the tests. So a line has a limit, and then all tables and arrays have one.
struct DottedKeyTests {
    private static func key(of parts: Int) -> String {
        repeatElement("a", count: parts).joined(separator: ".")
    }

    /// Values of the context. A limit of 250 dots once refused 84 addresses in one line.
    static let valid = [
        "x = [\((0..<300).map { "'192.0.2.\($0 % 256)'" }.joined(separator: ", "))]",
        "x = 1 # \(String(repeating: ".", count: 999))",
        "x = '''\(String(repeating: String(repeating: ".", count: 999) + "\n", count: 9))'''",
        "x = { \((0..<300).map { "a\($0).b = 1" }.joined(separator: ", ")) }",
    ]

    @Test(arguments: valid) func linesOfAUsualLengthAreRead(_ text: String) throws {
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

    @Test(.timeLimit(.minutes(5)), arguments: ["a", "\"a\"", "'a.b'", " a ", "\t\"\\\".\" "])
    func aKeyOfManyPartsIsAnErrorWithItsLine(part: String) {
        let key = repeatElement(part, count: 100_000).joined(separator: ".")
        for text in ["\(key) = 1", "[\(key)]", "[[\(key)]]", "x = { \(key) = 1 }", "x = [{ \(key)"]
        {
            #expect(
                errors(in: "# a\n\(text)")
                    == "f:2:1: syntax error: line with more than 1000 dots")
        }
    }

    @Test func aKeyMayHaveAsManyPartsAsThereAreLevels() {
        func printed(parts: Int) -> String { errors(in: "\(Self.key(of: parts)) = 1") }
        #expect(printed(parts: 32).hasPrefix("f:1:1: unknown key 'a'"))
        for parts in [33, 1001] {
            #expect(printed(parts: parts).hasPrefix("f:1:"))
            #expect(printed(parts: parts).contains("more than 32 levels of tables and arrays"))
        }
    }

    /// As deep as the parser ever gets: keys as long as a line may have them, in as many arrays and inline tables as it
    /// reads.
    @Test func longKeysInNestedTablesAreAnErrorWithTheirPlace() {
        let key = Self.key(of: 1001)
        let printed = errors(
            in: "[\(key)]\n" + String(repeating: "\(key) = [\n{", count: 15) + "\(key) = 1"
                + String(repeating: "}]", count: 15))
        #expect(printed.hasPrefix("f:"))
        #expect(printed.hasSuffix(": syntax error: more than 32 levels of tables and arrays"))
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
