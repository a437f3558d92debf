import Decision
import JSON
import Testing

/// Properties of all values and inputs, on many random ones, which are the same in each run.
@Suite(.timeLimit(.minutes(5)))
struct RandomTests {
    @Test(arguments: 0..<20 as Range<UInt64>)
    func whatIsWrittenReadsBackEqualAndInOrder(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<50 {
            let value = random.value(depth: 4)
            for style in [Style.compact, .pretty] {
                let text = value.serialized(style)
                let again = try Value.parse(text)
                try #require(again == value)
                try #require(again.hashValue == value.hashValue)
                try #require(again.serialized(style).utf8.elementsEqual(text.utf8))
            }
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func damagedDocumentsAreRefusedAtAPlaceOrReadAndWrittenAlike(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<20 {
            let document = Array(random.value(depth: 3).serialized(.pretty).utf8)
            for _ in 0..<20 {
                var damaged = document
                for _ in 0..<Int.random(in: 1...3, using: &random) { random.damage(&damaged) }
                try expectVerdict(on: damaged)
            }
        }
    }

    @Test func everyBeginningOfADocumentIsRefusedAtItsEndOrInItsLastWord() throws {
        let document = Array(#"{"a":[1.5e3,"é\ud834\udd1e",null,{"b":true}],"c":-0}"#.utf8)
        #expect(refusal(of: document) == nil)
        for length in 0..<document.count {
            let error = try #require(refusal(of: Array(document[..<length])))
            try #require(error.offset <= length)
            try #require(error.offset + 11 >= length)
        }
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func noiseIsRefusedAtAPlaceOrReadAndWrittenAlike(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let alphabet = Array(#"{}[],:"\/bfnrtu0123456789.+-eE ainsl"#.utf8) + [0, 0x0A, 0x80, 0xC3]
        for _ in 0..<2000 {
            let length = Int.random(in: 0...24, using: &random)
            let noise = (0..<length).compactMap { _ in alphabet.randomElement(using: &random) }
            try expectVerdict(on: noise)
        }
    }

    /// Expects an error inside the document, or a value that can be written and read again.
    private func expectVerdict(on bytes: [UInt8]) throws {
        let value: Value
        do throws(SyntaxError) {
            value = try Value.parse(bytes)
        } catch {
            let before = bytes.prefix(error.offset)
            let line = before.split(separator: 0x0A, omittingEmptySubsequences: false)
            try #require(error.offset <= bytes.count)
            try #require(error.line == line.count)
            try #require(error.column == (line.last?.count ?? 0) + 1)
            try #require(!error.description.isEmpty)
            return
        }
        try #require(try Value.parse(value.serialized()) == value)
    }
}
