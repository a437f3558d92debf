import JSON
import Testing

/// Documents as large as a source may send.
@Suite(.timeLimit(.minutes(1)))
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

    @Test func thousandsOfElementsAndMembersComeBack() throws {
        let numbers = (0..<20_000).map { Value.number(Number($0)) }
        let members = (0..<20_000).map { ("key \($0)", Value.bool($0 % 2 == 0)) }
        let value: Value = [.array(numbers), .object(Object(members))]
        #expect(try Value.parse(value.serialized(.pretty)) == value)
    }
}
