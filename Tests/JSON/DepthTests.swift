import JSON
import Testing

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
