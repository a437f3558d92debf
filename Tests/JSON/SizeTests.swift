import JSON
import Testing

/// Documents as large as a source may send.
@Suite(.timeLimit(.minutes(5)))
struct SizeTests {
    static let mebibytes = 2 << 20

    @Test(arguments: ["a", "𝄞\n"]) func aStringOfTwoMebibytesComesBack(text: String) throws {
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

/// RFC 8259 §9: the reader's own limit on nesting.
@Suite(.timeLimit(.minutes(5)))
struct DepthTests {
    /// The text that opens and the text that closes one level.
    struct Level: Sendable, CustomTestStringConvertible {
        let name: String
        let open: String
        let close: String

        var testDescription: String { name }

        func nested(_ depth: Int, around value: String = "") -> String {
            String(repeating: open, count: depth) + value + String(repeating: close, count: depth)
        }
    }

    static let array = Level(name: "arrays", open: "[", close: "]")
    static let object = Level(name: "objects", open: #"{"a":"#, close: "}")
    static let spread = Level(name: "arrays among others", open: #"[0,"[",null,"#, close: ",0]")

    private func isTooDeep(_ error: SyntaxError?, limit: Int) -> Bool {
        let words = "expected at most \(limit) levels of arrays and objects"
        return error?.description.hasSuffix(words) ?? false
    }

    @Test(arguments: [array, object, spread])
    func sixtyFourLevelsAreReadAndSixtyFiveAreNot(level: Level) {
        #expect(refusal(of: Array(level.nested(64, around: "1").utf8)) == nil)
        let error = refusal(of: Array(level.nested(65, around: "1").utf8))
        #expect(isTooDeep(error, limit: 64))
        #expect(error?.offset == 64 * level.open.utf8.count)
    }

    @Test func theErrorNamesTheLimitAndThePlace() {
        let error = refusal(of: Array("[[\n  [[]]]]".utf8), depthLimit: 3)
        #expect(
            error?.description
                == "nested too deep at line 2, column 4: "
                + "expected at most 3 levels of arrays and objects")
    }

    @Test func aScalarIsNoLevelAndAnEmptyContainerIsOne() {
        #expect(refusal(of: Array("1".utf8), depthLimit: 0) == nil)
        #expect(isTooDeep(refusal(of: Array("[]".utf8), depthLimit: 0), limit: 0))
        #expect(isTooDeep(refusal(of: Array("{}".utf8), depthLimit: 0), limit: 0))
        #expect(refusal(of: Array("[1,{},\"a\"]".utf8), depthLimit: 2) == nil)
    }

    @Test func levelsSideBySideDoNotAddUp() throws {
        let row = DepthTests.array.nested(63, around: "1")
        let rows = "[" + Array(repeating: row, count: 100).joined(separator: ",") + "]"
        #expect(try Value.parse(rows).array?.count == 100)
    }

    @Test(arguments: [array, object, spread])
    func aHundredThousandOpenLevelsAreRefusedAtTheSixtyFifth(level: Level) {
        let document = String(repeating: level.open, count: 100_000)
        #expect(refusal(of: Array(document.utf8))?.offset == 64 * level.open.utf8.count)
        let closed = level.nested(100_000, around: "1")
        #expect(isTooDeep(refusal(of: Array(closed.utf8)), limit: 64))
    }
}
