import JSON
import Testing

/// Documents as large as a source may send.
@Suite(.timeLimit(.minutes(5)))
struct SizeTests {
    static let mebibytes = 2 << 20

    @Test(arguments: ["a", "𝄞\n"])
    func aStringOfTwoMebibytesComesBack(text: String) throws {
        let value = Value.string(String(repeating: text, count: Self.mebibytes / text.utf8.count))
        #expect(try Value.parse(value.serialized()) == value)
    }

    @Test func aStringOfEscapesIsRead() throws {
        let text = String(repeating: #"\u0061\ud834\udd1e"#, count: 20_000)
        let value = try Value.parse("\"\(text)\"")
        #expect(value == .string(String(repeating: "a𝄞", count: 20_000)))
    }

    @Test func aNumberOfAMillionDigitsIsKept() throws {
        let digits = String(repeating: "7", count: 1_000_000)
        let number = try #require(try Value.parse(digits).number)
        #expect(number.literal.utf8.count == 1_000_000)
        #expect(number.int64 == nil)
    }

    @Test func aMillionWhiteSpacesAreSkippedAndCounted() {
        let lines = String(repeating: " \n", count: 500_000)
        #expect(refusal(of: Array((lines + "1" + lines).utf8)) == nil)
        let error = refusal(of: Array((lines + " ,").utf8))
        #expect(error?.description == "unexpected ',' at line 500001, column 2: expected a value")
        #expect(error?.offset == 1_000_001)
    }

    /// Tiny values took up to 43 times the memory of their document, and each object of more than 16 members
    /// a table of its own.
    @Test(arguments: [
        ("0", false), ("{}", false), ("[0]", false), (#"{"":0}"#, false), ("1234", true),
    ])
    func valuesTakeABoundedMultipleOfTheirDocument(_ item: String, _ isRead: Bool) {
        let small = "[\(Array(repeating: item, count: 1000).joined(separator: ","))]"
        #expect(refusal(of: Array(small.utf8)) == nil)
        let count = (2 << 20) / (item.utf8.count + 1)
        let large = "[\(Array(repeating: item, count: count).joined(separator: ","))]"
        let problem = refusal(of: Array(large.utf8))?.description
        #expect((problem == nil) == isRead)
        if let problem {
            #expect(problem.hasPrefix("too many values at line 1, column "))
            #expect(problem.hasSuffix("expected values in at most 12 times the document's size"))
        }
    }

    /// Flags as an honest source may send them.
    @Test(arguments: [
        #"{"a":0,"b":0,"c":0,"d":0,"e":0,"f":0,"g":0,"h":0,"i":0,"j":0,"k":0,"l":0,"m":0,"n":0,"o":0,"p":0,"q":0}"#,
        #"{"a":0,"b":0,"c":0,"d":0,"e":0}"#, #"{"state":"running","version":12}"#, #"{"key":true}"#,
    ])
    func objectsOfFewAndManyMembersAreRead(_ item: String) {
        let count = (2 << 20) / (item.utf8.count + 1)
        let large = "[\(Array(repeating: item, count: count).joined(separator: ","))]"
        #expect(refusal(of: Array(large.utf8)) == nil)
    }

    @Test func thousandsOfElementsAndMembersComeBack() throws {
        let numbers = (0..<20_000).map { Value.number(Number($0)) }
        let members = (0..<20_000).map { ("key \($0)", Value.bool($0 % 2 == 0)) }
        let value: Value = [.array(numbers), .object(Object(members))]
        #expect(try Value.parse(value.serialized(.pretty)) == value)
    }
}
