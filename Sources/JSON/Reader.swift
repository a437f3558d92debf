extension Value {
    /// How deep a foreign document may be nested.
    package static let depthLimit = 64
    /// How deep a document of killswitchd itself may be nested: it wraps foreign values in a few levels.
    package static let ownDepthLimit = 2 * depthLimit

    /// Reads exactly one JSON value, strictly by RFC 8259, with white space around it.
    ///
    /// Beyond the grammar it rejects an encoding other than UTF-8, a byte order mark, a key that occurs twice in an
    /// object (compared after undoing escapes), half a surrogate pair, and values nested deeper than `depthLimit`: a
    /// scalar has 0 levels and `[]` has 1. The stack grows with the limit: keep it in the hundreds.
    package static func parse(
        _ bytes: [UInt8], depthLimit: Int = depthLimit
    ) throws(SyntaxError) -> Value {
        var reader = Parser(bytes: bytes, depthLimit: depthLimit)
        return try reader.readDocument()
    }

    /// Reads exactly one JSON value from a string, by the rules of `parse` for bytes.
    package static func parse(
        _ text: String, depthLimit: Int = depthLimit
    ) throws(SyntaxError) -> Value {
        try parse(Array(text.utf8), depthLimit: depthLimit)
    }
}

/// A position in the bytes of a document. Each `read…` method advances it past the bytes that it read.
struct Parser {
    let bytes: [UInt8]
    let depthLimit: Int
    /// The position: how many bytes were read.
    var offset = 0
    /// How many bytes of memory the values may still take.
    private var room: Int

    /// How many times its size the values of a document may take, beside `freeRoom`: flags take five, tiny ones forty.
    private static let expansionLimit = 12
    private static let freeRoom = 1 << 20
    /// From this size on, a document gives back the room for more values.
    private static let largeDocument = 64 << 10

    init(bytes: [UInt8], depthLimit: Int) {
        self.bytes = bytes
        self.depthLimit = depthLimit
        room = Self.freeRoom + Self.expansionLimit * bytes.count
    }

    /// The byte at the position; nil at the end.
    var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    var isAtEnd: Bool { offset == bytes.count }

    mutating func skipWhitespace() {
        while let byte = next, byte.isWhitespace { offset += 1 }
    }

    /// Moves past the byte if it comes next; says whether it did.
    @inline(__always) mutating func skip(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        offset += 1
        return true
    }

    /// Moves past the whole word if it comes next; says whether it did.
    mutating func skip(word: String) -> Bool {
        var end = offset
        for byte in word.utf8 {
            guard end < bytes.count, bytes[end] == byte else { return false }
            end += 1
        }
        if end < bytes.count, bytes[end].isLetter || bytes[end].isDigit { return false }
        offset = end
        return true
    }

    /// Reads a whole document: one value (RFC 8259 §2).
    mutating func readDocument() throws(SyntaxError) -> Value {
        try checkEncoding()
        skipWhitespace()
        guard !isAtEnd else {
            throw failure(at: offset) { _, _ in "empty input: expected a value" }
        }
        let value = try readValue(or: .value, depth: 0)
        skipWhitespace()
        guard isAtEnd else { throw unexpected(.endOfInput) }
        return value
    }

    /// Reads a value inside `depth` arrays and objects. If no value begins here, the error names `expected`.
    private mutating func readValue(
        or expected: SyntaxError.Expected, depth: Int
    ) throws(SyntaxError) -> Value {
        switch next {
        case .quote: .string(try readString())
        case .openBrace: .object(try readObject(depth: depth))
        case .openBracket: .array(try readArray(depth: depth))
        case let byte? where byte == .minus || byte.isDigit: .number(try readNumber())
        default: try readWord(or: expected)
        }
    }

    /// Reads `true`, `false` or `null` (RFC 8259 §3).
    private mutating func readWord(or expected: SyntaxError.Expected) throws(SyntaxError) -> Value {
        let (word, value): (String, Value) =
            switch next {
            case UInt8(ascii: "t"): ("true", true)
            case UInt8(ascii: "f"): ("false", false)
            default: ("null", .null)
            }
        guard skip(word: word) else { throw unexpected(expected) }
        return value
    }

    /// Takes memory for values; throws if it is too much.
    private mutating func consume(_ bytes: Int) throws(SyntaxError) {
        room -= bytes
        guard room >= 0 else {
            throw failure(at: min(offset, self.bytes.count)) {
                "too many values \($1): expected values in at most \(Self.expansionLimit) times "
                    + "the document's size"
            }
        }
    }

    /// Makes room for more elements, as many again, and no more than the rest of the document can hold.
    private func reserve(_ elements: inout [Value]) {
        guard elements.count >= 4096 else { return }
        let rest = (bytes.count - offset) / 2 + 1
        elements.reserveCapacity(elements.count + min(elements.count, rest))
    }

    /// What an array, an object, an element and a member take, with half as much again while they grow.
    private static let container = 48
    private static let element = 40
    private static let member = 56

    /// Reads an array (RFC 8259 §5).
    private mutating func readArray(depth: Int) throws(SyntaxError) -> [Value] {
        try enter(depth)
        var elements: [Value] = []
        skipWhitespace()
        if skip(.closeBracket) { return elements }
        var expected = SyntaxError.Expected.valueOrEndOfArray
        repeat {
            skipWhitespace()
            try consume(Self.element)
            if elements.count == elements.capacity { reserve(&elements) }
            elements.append(try readValue(or: expected, depth: depth + 1))
            skipWhitespace()
            expected = .value
        } while skip(.comma)
        guard skip(.closeBracket) else { throw unexpected(.commaOrEndOfArray) }
        return bytes.count >= Self.largeDocument ? elements.trimmed : elements
    }

    /// Reads an object (RFC 8259 §4).
    private mutating func readObject(depth: Int) throws(SyntaxError) -> Object {
        try enter(depth)
        var object = Object()
        skipWhitespace()
        if skip(.closeBrace) { return object }
        var expected = SyntaxError.Expected.keyOrEndOfObject
        repeat {
            skipWhitespace()
            try readKey(into: &object, or: expected)
            skipWhitespace()
            guard skip(.colon) else { throw unexpected(.colon) }
            skipWhitespace()
            object.complete(try readValue(or: .value, depth: depth + 1))
            skipWhitespace()
            expected = .key
        } while skip(.comma)
        guard skip(.closeBrace) else { throw unexpected(.commaOrEndOfObject) }
        if bytes.count >= Self.largeDocument { object.trim() }
        return object
    }

    /// Reads a key and appends a member of that key; a key that exists is an error.
    private mutating func readKey(
        into object: inout Object, or expected: SyntaxError.Expected
    ) throws(SyntaxError) {
        guard next == .quote else { throw unexpected(expected) }
        let start = offset
        let key = try readString()
        try consume(Self.member)
        guard object.admit(key) else {
            throw failure(at: start) {
                "duplicate key \(quoted(key)) \($1): expected each key once in an object"
            }
        }
    }

    /// Moves past the bracket or brace that opens a level, unless that would be one too many.
    private mutating func enter(_ depth: Int) throws(SyntaxError) {
        guard depth < depthLimit else {
            throw failure(at: offset) {
                "nested too deep \($1): expected at most \(depthLimit) levels of arrays and objects"
            }
        }
        offset += 1
        if next != .closeBracket, next != .closeBrace { try consume(Self.container) }
    }
}

/// The bytes that JSON's grammar is made of (RFC 8259 §2).
extension UInt8 {
    static let tab = UInt8(ascii: "\t")
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let space = UInt8(ascii: " ")

    static let openBracket = UInt8(ascii: "[")
    static let closeBracket = UInt8(ascii: "]")
    static let openBrace = UInt8(ascii: "{")
    static let closeBrace = UInt8(ascii: "}")
    static let comma = UInt8(ascii: ",")
    static let colon = UInt8(ascii: ":")

    static let quote = UInt8(ascii: "\"")
    static let backslash = UInt8(ascii: "\\")
    static let slash = UInt8(ascii: "/")

    static let plus = UInt8(ascii: "+")
    static let minus = UInt8(ascii: "-")
    static let point = UInt8(ascii: ".")
    static let zero = UInt8(ascii: "0")
    static let lowerE = UInt8(ascii: "e")
    static let upperE = UInt8(ascii: "E")

    /// 0 to 9.
    var isDigit: Bool { self >= .zero && self <= UInt8(ascii: "9") }

    /// Space, tab, line feed or carriage return: JSON's only white space.
    var isWhitespace: Bool {
        self == .space || self == .lineFeed || self == .carriageReturn || self == .tab
    }

    /// A to Z, a to z.
    var isLetter: Bool {
        let lower = self | 0x20
        return lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z")
    }

    /// U+0000 to U+001F, which a string holds only escaped (RFC 8259 §7).
    var isControl: Bool { self < .space }
}
