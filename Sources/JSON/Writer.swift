/// The layout of a value as text.
package enum Style: Hashable, Sendable {
    /// One line without white space.
    case compact
    /// An indented line for each member or element. An empty array or object stays on one line.
    case pretty
    /// Like `pretty` for the outer two levels, else `compact`: hardly longer than that, however deep a value is nested.
    case outline
}

extension Value {
    /// The value as JSON, without a line feed at the end; `parse` returns an equal value, with members in this order.
    ///
    /// In strings, what RFC 8259 §7 requires is escaped, and what a terminal would not show (`isPrintable`).
    package func serialized(_ style: Style = .compact) -> String {
        String(decoding: serializedBytes(style), as: UTF8.self)
    }

    /// The same in bytes of UTF-8. `room` is the expected number of bytes, which saves copies while the array grows.
    package func serializedBytes(_ style: Style = .compact, room: Int = 0) -> [UInt8] {
        var writer = Writer(style: style, room: room)
        writer.write(self, depth: 0)
        return writer.bytes
    }
}

private struct Writer {
    let style: Style
    private(set) var bytes: [UInt8] = []
    /// The last two long arrays, and their bytes: members that hundreds of objects have in common are copied.
    private var long: [(elements: [Value], depth: Int, bytes: [UInt8])] = []

    /// From how many elements on an array is long, and how many bytes are kept of it.
    private static let (least, most) = (16, 64 << 10)

    init(style: Style, room: Int) {
        self.style = style
        bytes.reserveCapacity(room)
    }

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
        guard elements.count >= Self.least else { return writeItems(elements, depth: depth) }
        // The same array is equal at one look, and others mostly differ in their first elements.
        for known in long where known.depth == depth && known.elements == elements {
            return bytes += known.bytes
        }
        let start = bytes.count
        writeItems(elements, depth: depth)
        guard bytes.count - start <= Self.most else { return }
        long = long.suffix(1) + [(elements, depth, Array(bytes[start...]))]
    }

    private mutating func writeItems(_ elements: [Value], depth: Int) {
        bytes.append(.openBracket)
        for (position, element) in elements.enumerated() {
            startItem(position, inside: depth)
            write(element, depth: depth + 1)
        }
        if !elements.isEmpty { endItems(inside: depth) }
        bytes.append(.closeBracket)
    }

    private mutating func write(_ object: Object, depth: Int) {
        bytes.append(.openBrace)
        for (position, member) in object.members.enumerated() {
            startItem(position, inside: depth)
            writeQuoted(member.key)
            write(hasLines(inside: depth) ? ": " : ":")
            write(member.value, depth: depth + 1)
        }
        if !object.isEmpty { endItems(inside: depth) }
        bytes.append(.closeBrace)
    }

    private mutating func startItem(_ position: Int, inside depth: Int) {
        if position > 0 { bytes.append(.comma) }
        if hasLines(inside: depth) { startLine(depth: depth + 1) }
    }

    private mutating func endItems(inside depth: Int) {
        if hasLines(inside: depth) { startLine(depth: depth) }
    }

    /// Whether a container inside `depth` others has a line for each item.
    private func hasLines(inside depth: Int) -> Bool {
        switch style {
        case .compact: false
        case .pretty: true
        case .outline: depth < 2
        }
    }

    private mutating func startLine(depth: Int) {
        bytes.append(.lineFeed)
        for _ in 0..<depth { write("  ") }
    }

    private mutating func writeQuoted(_ string: String) {
        bytes.append(.quote)
        let (room, isASCII) = Self.measure(string.utf8.span)
        if isASCII || string.unicodeScalars.allSatisfy(\.isPlain) {
            writeEscaped(string.utf8.span, room)
        } else {
            for scalar in string.unicodeScalars {
                if scalar.isPlain {
                    let text = String(scalar)
                    writeEscaped(text.utf8.span, Self.measure(text.utf8.span).room)
                } else {
                    write(scalar.escape)
                }
            }
        }
        bytes.append(.quote)
    }

    /// How many bytes the text takes with its escapes, and whether it is ASCII.
    private static func measure(_ text: Span<UInt8>) -> (room: Int, isASCII: Bool) {
        var (room, all) = (text.count, UInt8(0))
        for index in text.indices {
            let byte = text[index]
            all |= byte
            if byte.needsEscape { room += byte.escapeLength - 1 }
        }
        return (room, all < 0x80)
    }

    /// Escapes into memory that is allocated once: a whole document may be stored inside a string.
    private mutating func writeEscaped(_ text: Span<UInt8>, _ room: Int) {
        let needed = bytes.count + room
        // At least twice as much: many short texts must not copy the array each time.
        if needed > bytes.capacity { bytes.reserveCapacity(max(needed, 2 * bytes.capacity)) }
        for index in text.indices {
            let byte = text[index]
            if room == text.count || !byte.needsEscape {
                bytes.append(byte)
            } else if let letter = byte.escapeLetter {
                bytes.append(.backslash)
                bytes.append(letter)
            } else {
                bytes.append(contentsOf: "\\u\(byte.hexadecimal)".utf8)
            }
        }
    }

    private mutating func write(_ plain: String) { bytes.append(contentsOf: plain.utf8) }
}

extension Unicode.Scalar {
    /// Whether it is ASCII, whose escapes go by bytes, or printable.
    fileprivate var isPlain: Bool { isASCII || isPrintable }

    /// `\u` and four hexadecimal digits for each unit of UTF-16.
    fileprivate var escape: String { String(self).utf16.map { "\\u\($0.hexadecimal)" }.joined() }
}

extension UInt8 {
    fileprivate var needsEscape: Bool {
        self == .quote || self == .backslash || isControl || self == 0x7F
    }

    /// The letter of the escape's short form, such as `n` for a line feed; nil without one.
    fileprivate var escapeLetter: UInt8? {
        switch self {
        case .quote, .backslash: self
        case 0x08: UInt8(ascii: "b")
        case 0x0C: UInt8(ascii: "f")
        case .lineFeed: UInt8(ascii: "n")
        case .carriageReturn: UInt8(ascii: "r")
        case .tab: UInt8(ascii: "t")
        default: nil
        }
    }

    fileprivate var escapeLength: Int { escapeLetter == nil ? 6 : 2 }
}
