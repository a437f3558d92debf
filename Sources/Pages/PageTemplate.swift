/// The template of a page: text with tags, read once and filled for each record.
///
/// The syntax is mustache (mustache(5)) without what a page must not do. There are no partials, no lambdas, no
/// other delimiters, and no unescaped fields: everything that is filled in is escaped as HTML.
///
/// | tag | meaning |
/// |---|---|
/// | `{{FIELD}}` | the value of the field, escaped; nothing without a value |
/// | `{{#FIELD}}…{{/FIELD}}` | what is in between, if the field has a value |
/// | `{{^FIELD}}…{{/FIELD}}` | what is in between, if the field has none |
/// | `{{!…}}` | a comment |
///
/// The tag of a section or a comment that stands alone on its line takes the line with it.
package struct PageTemplate: Hashable, Sendable {
    enum Node: Hashable, Sendable {
        /// Bytes of the template as they are.
        case text([UInt8])
        case field(PageField)
        /// What is shown if the field has a value or, inverted, if it has none.
        indirect case section(PageField, isInverted: Bool, [Node])
    }

    /// A field `values.NAME`: whether there is such a value is known to the service.
    package struct ValueUse: Hashable, Sendable {
        package let name: String
        package let line: Int
        package let column: Int
    }

    let nodes: [Node]
    /// The remote values that it shows.
    package let values: [ValueUse]

    package static var fieldNames: [String] { PageField.names }

    /// The largest template that is read, in bytes.
    package static let largest = 256 << 10
    /// How many tags a template may have, so that a text of the flags is repeated a limited number of times.
    static let mostTags = 500
    /// How deep sections may be nested.
    static let deepest = 16
}

extension PageTemplate {
    /// Reads the bytes of a template. Throws the first error with its place.
    package init(_ bytes: [UInt8]) throws(TemplateError) {
        guard bytes.count <= Self.largest else {
            throw TemplateError(
                problem: "file of \(bytes.count) bytes: at most \(Self.largest) are read")
        }
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw TemplateError(problem: "it is not UTF-8")
        }
        var parser = TemplateParser(bytes: bytes)
        self = try parser.read()
    }
}

/// Why a template cannot be used, and where. Lines and columns begin at 1; columns count code points.
package struct TemplateError: Error, Hashable, CustomStringConvertible {
    package var line = 1
    package var column = 1
    /// One line, in lower case.
    package let problem: String

    package var description: String { "\(line):\(column): \(problem)" }
}

/// Reads a template from the first byte to the last.
struct TemplateParser {
    private let bytes: [UInt8]
    private var position = 0
    private var tags = 0
    private var values: [PageTemplate.ValueUse] = []
    /// The open sections; the first one is the whole template.
    private var sections = [Section(tag: nil, start: 0)]

    /// A section whose end has not come yet.
    private struct Section {
        /// Its field as it is spelled, and whether it is inverted; nil for the whole template.
        let tag: (name: String, field: PageField, isInverted: Bool)?
        let start: Int
        var nodes: [PageTemplate.Node] = []
    }

    /// A parser of these bytes, which are UTF-8.
    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func read() throws(TemplateError) -> PageTemplate {
        while let start = find(UInt8(ascii: "{"), from: position) {
            guard let end = find(UInt8(ascii: "}"), from: start + 2) else {
                throw error("the tag is not closed: '}}' is missing", at: start)
            }
            tags += 1
            guard tags <= PageTemplate.mostTags else {
                throw error("more than \(PageTemplate.mostTags) tags", at: start)
            }
            try parse(start..<end + 2)
        }
        add(bytes[position...])
        if let open = sections.last, let tag = open.tag {
            throw error(
                "section '\(tag.name)' is not closed: '{{/\(tag.name)}}' is missing", at: open.start
            )
        }
        return PageTemplate(nodes: sections[0].nodes, values: values)
    }

    private mutating func parse(_ range: Range<Int>) throws(TemplateError) {
        let start = range.lowerBound
        let inner = bytes[start + 2..<range.upperBound - 2]
        let (kind, rest) = (inner.first ?? 0, inner.dropFirst())
        switch kind {
        case UInt8(ascii: "!"): consumeLine(of: range)
        case UInt8(ascii: "#"), UInt8(ascii: "^"):
            let name = Self.trimmed(rest)
            let field = try field(name, at: start)
            guard sections.count <= PageTemplate.deepest else {
                throw error("sections nested over \(PageTemplate.deepest) levels", at: start)
            }
            consumeLine(of: range)
            sections.append(Section(tag: (name, field, kind == UInt8(ascii: "^")), start: start))
        case UInt8(ascii: "/"):
            let name = Self.trimmed(rest)
            guard let section = sections.last, let tag = section.tag else {
                throw error("'{{/\(name)}}' closes a section that was not opened", at: start)
            }
            guard tag.name == name else {
                throw error("'{{/\(name)}}' comes where '{{/\(tag.name)}}' is expected", at: start)
            }
            consumeLine(of: range)
            let nodes = sections.removeLast().nodes
            sections[sections.count - 1].nodes.append(
                .section(tag.field, isInverted: tag.isInverted, nodes))
        case UInt8(ascii: "{"), UInt8(ascii: "&"):
            throw error("every field is escaped: write '{{\(Self.trimmed(rest))}}'", at: start)
        case UInt8(ascii: ">"):
            throw error("a template has no partials: write the text here", at: start)
        case UInt8(ascii: "="): throw error("the delimiters are always '{{' and '}}'", at: start)
        default:
            let field = try field(Self.trimmed(inner), at: start)
            add(bytes[position..<start])
            sections[sections.count - 1].nodes.append(.field(field))
            position = range.upperBound
        }
    }

    /// The field of this name; `.` is that of the innermost section.
    private mutating func field(
        _ name: String, at position: Int
    ) throws(TemplateError) -> PageField {
        if name == ".", let tag = sections.last?.tag { return tag.field }
        guard let field = PageField(name) else {
            let names = PageField.names.joined(separator: ", ")
            throw error("unknown field '\(name.shortened)'; the fields are \(names)", at: position)
        }
        if let value = field.valueName {
            let (line, column) = place(of: position)
            values.append(PageTemplate.ValueUse(name: value, line: line, column: column))
        }
        return field
    }

    /// Takes the text before a tag that shows nothing, and the tag, with its line if it is alone on it.
    private mutating func consumeLine(of tag: Range<Int>) {
        var (begin, end) = (tag.lowerBound, tag.upperBound)
        while begin > position, Self.isBlank(bytes[begin - 1]) { begin -= 1 }
        while end < bytes.count, Self.isBlank(bytes[end]) { end += 1 }
        let isFirst = begin == 0 || bytes[begin - 1] == UInt8(ascii: "\n")
        let isLast = end == bytes.count || bytes[end] == UInt8(ascii: "\n")
        if isFirst, isLast {
            add(bytes[position..<begin])
            position = min(end + 1, bytes.count)
        } else {
            add(bytes[position..<tag.lowerBound])
            position = tag.upperBound
        }
    }

    private mutating func add(_ text: ArraySlice<UInt8>) {
        guard !text.isEmpty else { return }
        sections[sections.count - 1].nodes.append(.text(Array(text)))
    }

    /// The position of the next two of these bytes; nil without.
    private func find(_ brace: UInt8, from start: Int) -> Int? {
        guard start < bytes.count - 1 else { return nil }
        return (start..<bytes.count - 1).first { bytes[$0] == brace && bytes[$0 + 1] == brace }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { " \t\r".utf8.contains(byte) }

    /// The text between the first and the last character that is neither blank nor a line break.
    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
        let isSpace = { (byte: UInt8) in isBlank(byte) || byte == UInt8(ascii: "\n") }
        var rest = bytes.drop(while: isSpace)
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        return String(decoding: rest, as: UTF8.self)
    }

    private func error(_ problem: String, at position: Int) -> TemplateError {
        let (line, column) = place(of: position)
        return TemplateError(line: line, column: column, problem: problem)
    }

    private func place(of position: Int) -> (line: Int, column: Int) {
        let before = bytes[..<position]
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let column = String(decoding: bytes[start..<position], as: UTF8.self).unicodeScalars.count
        return (before.count { $0 == UInt8(ascii: "\n") } + 1, column + 1)
    }
}

extension String {
    fileprivate var shortened: String { count > 100 ? "\(prefix(100))…" : self }
}
