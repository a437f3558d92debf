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

extension SeededRandom {
    mutating func value(depth: Int) -> Value {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 5), using: &self) {
        case 0: return .null
        case 1: return .bool(.random(using: &self))
        case 2: return .number(Number(Int64.random(in: .min ... .max, using: &self)))
        case 3: return .number(Number(Double(bitPattern: next())) ?? 0)
        case 4: return .string(text())
        case 5: return .array((0..<count()).map { _ in value(depth: depth - 1) })
        default:
            return .object(Object((0..<count()).map { _ in (text(), value(depth: depth - 1)) }))
        }
    }

    /// Mostly a small number, sometimes more than an object searches without an index.
    private mutating func count() -> Int {
        Int.random(in: 0...(Int.random(in: 0..<10, using: &self) == 0 ? 30 : 4), using: &self)
    }

    /// A text in which special characters are frequent.
    private mutating func text() -> String {
        var text = ""
        for _ in 0..<count() {
            let range: ClosedRange<UInt32> =
                switch Int.random(in: 0..<6, using: &self) {
                case 0: 0...0x1F
                case 1: 0x80...0x7FF
                case 2: 0xE000...0xFFFF
                case 3: 0x1_0000...0x10_FFFF
                default: 0x20...0x7F
                }
            guard let scalar = Unicode.Scalar(UInt32.random(in: range, using: &self)) else {
                continue
            }
            text.unicodeScalars.append(scalar)
        }
        return text
    }

    /// Changes, adds, removes or repeats some bytes.
    mutating func damage(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        let index = Int.random(in: bytes.indices, using: &self)
        switch Int.random(in: 0..<5, using: &self) {
        case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &self)
        case 1: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &self)
        case 2: bytes.remove(at: index)
        case 3: bytes.insert(UInt8.random(in: .min ... .max, using: &self), at: index)
        default: bytes.append(contentsOf: bytes[index...])
        }
    }
}
