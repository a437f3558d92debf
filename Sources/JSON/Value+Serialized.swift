/// How a value is laid out as text.
package enum Style: Hashable, Sendable {
    /// One line, no white space.
    case compact
    /// One member or element a line, two spaces a level; an empty array or object on one line.
    case pretty
}

extension Value {
    /// The value as JSON, without a line feed at the end: `parse` gives back an equal value, members
    /// in the same order, numbers as they were written.
    ///
    /// Strings are escaped only where RFC 8259 §7 demands it.
    package func serialized(_ style: Style = .compact) -> String {
        var writer = Writer(style: style)
        writer.write(self, depth: 0)
        return writer.text
    }
}

private struct Writer {
    let style: Style
    private var bytes: [UInt8] = []

    init(style: Style) {
        self.style = style
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Writes a value that is inside `depth` arrays and objects.
    mutating func write(_ value: Value, depth: Int) {
        switch value {
        case .null: write("null")
        case .bool(let bool): write(bool ? "true" : "false")
        case .number(let number): write(number.literal)
        case .string(let string): writeQuoted(string)
        case .array(let elements): write(elements, depth: depth)
        case .object(let object): write(object, depth: depth)
        }
    }

    private mutating func write(_ elements: [Value], depth: Int) {
        bytes.append(.openBracket)
        for (position, element) in elements.enumerated() {
            startItem(position, depth: depth + 1)
            write(element, depth: depth + 1)
        }
        if !elements.isEmpty { startLine(depth: depth) }
        bytes.append(.closeBracket)
    }

    private mutating func write(_ object: Object, depth: Int) {
        bytes.append(.openBrace)
        for (position, member) in object.members.enumerated() {
            startItem(position, depth: depth + 1)
            writeQuoted(member.key)
            write(style == .pretty ? ": " : ":")
            write(member.value, depth: depth + 1)
        }
        if !object.isEmpty { startLine(depth: depth) }
        bytes.append(.closeBrace)
    }

    private mutating func startItem(_ position: Int, depth: Int) {
        if position > 0 { bytes.append(.comma) }
        startLine(depth: depth)
    }

    private mutating func startLine(depth: Int) {
        guard style == .pretty else { return }
        bytes.append(.lineFeed)
        for _ in 0..<depth { write("  ") }
    }

    private mutating func writeQuoted(_ string: String) {
        bytes.append(.quote)
        if string.utf8.contains(where: \.needsEscape) {
            for byte in string.utf8 {
                switch byte {
                case .quote, .backslash:
                    // Nearly all there is to escape in JSON that is inside a string.
                    bytes.append(.backslash)
                    bytes.append(byte)
                case _ where byte.needsEscape: write(byte.escape)
                default: bytes.append(byte)
                }
            }
        } else {
            write(string)
        }
        bytes.append(.quote)
    }

    private mutating func write(_ plain: String) {
        bytes.append(contentsOf: plain.utf8)
    }
}

extension UInt8 {
    fileprivate var needsEscape: Bool { self == .quote || self == .backslash || isControl }

    /// Itself escaped, in the short form where there is one.
    fileprivate var escape: String {
        switch self {
        case .quote: #"\""#
        case .backslash: #"\\"#
        case 0x08: #"\b"#
        case 0x0C: #"\f"#
        case .lineFeed: #"\n"#
        case .carriageReturn: #"\r"#
        case .tab: #"\t"#
        default: #"\u00"# + (self < 0x10 ? "0" : "") + String(self, radix: 16)
        }
    }
}
