import CToml

extension Table {
    /// The largest file that is parsed. A configuration of a thousand services is a tenth of it.
    package static let largestFile = 1 << 20

    /// The root table of a document of TOML. Members of tables are in the order of their places. Throws a syntax
    /// error, that the file is too large, or that memory runs out.
    package init(toml bytes: [UInt8], file: String) throws(Diagnostic) {
        guard bytes.count <= Self.largestFile else {
            throw Diagnostic(
                origin: Origin(file: file),
                text: "file of \(bytes.count) bytes: at most \(Self.largestFile) are read")
        }
        let parsed = unsafe bytes.withUnsafeBufferPointer {
            unsafe ctoml_parse($0.baseAddress, $0.count)
        }
        guard let document = unsafe parsed else {
            throw Diagnostic(
                origin: Origin(file: file), text: "file cannot be parsed: out of memory")
        }
        defer { unsafe ctoml_free(document) }
        if let error = unsafe ctoml_document_error(document) {
            let text = unsafe Diagnostic.sentence(String(error.pointee.text))
            throw unsafe Diagnostic(origin: Origin(file: file, error.pointee.position), text: text)
        }
        var reader = unsafe TomlReader(document: document, file: file)
        let root = unsafe ctoml_document_node(document, 0)
        self = unsafe reader.table(of: root.children)
    }
}

/// Reads the nodes of a document that toml++ has parsed, one after the other.
@safe private struct TomlReader {
    let document: OpaquePointer
    let file: String
    /// The next node; the root was read.
    var index = 1

    /// Reads the next `count` nodes, with all nodes in them, as members of a table. The recursion is as
    /// deep as the document, which `ctoml_parse` limits.
    mutating func table(of count: Int) -> Table {
        var members: [Table.Member] = []
        for _ in 0..<count {
            let next = unsafe ctoml_document_node(document, index)
            let key = unsafe String(next.key)
            let keyOrigin = unsafe Origin(file: file, next.key_position)
            let node = node()
            members.append(Table.Member(key: key, keyOrigin: keyOrigin, node: node))
        }
        members.sort {
            ($0.keyOrigin.line, $0.keyOrigin.column) < ($1.keyOrigin.line, $1.keyOrigin.column)
        }
        return Table(members: members)
    }

    /// Reads the next node, with all nodes in it.
    private mutating func node() -> Node {
        let next = unsafe ctoml_document_node(document, index)
        index += 1
        let value: Node.Value =
            switch unsafe next.kind {
            case .table: unsafe .table(table(of: next.children))
            case .array: unsafe .array((0..<next.children).map { _ in node() })
            case .string: unsafe .string(String(next.string))
            case .integer: unsafe .integer(next.integer)
            case .floating: unsafe .float(next.floating)
            case .boolean: unsafe .boolean(next.boolean != 0)
            case .date: .date
            case .time: .time
            case .datetime: .dateTime
            }
        return unsafe Node(value, at: Origin(file: file, next.position))
    }
}

extension Diagnostic {
    /// The message of toml++ as a clause of ours. It begins like `Error while parsing key-value pair:`,
    /// and quotes the document without escapes.
    fileprivate static func sentence(_ text: String) -> String {
        let opening = "Error while parsing "
        let sentence =
            text.hasPrefix(opening)
            ? "syntax error in \(text.dropFirst(opening.count))"
            : "syntax error: \(text.prefix(1).lowercased())\(text.dropFirst())"
        return (sentence + hint(for: text)).escapedForDisplay
    }

    /// A hint for the two errors whose text does not name the usual mistake.
    private static func hint(for text: String) -> String {
        if text.hasSuffix("could not determine value type") { return "; a text needs quotes" }
        let parts = text.split(separator: ":")
        if parts.contains(where: { $0.hasPrefix(" unescaped control characters") }) {
            return "; is the closing quote missing?"
        }
        return ""
    }
}

extension String {
    /// A copy. Bytes that are not UTF-8 become U+FFFD: a text may be cut inside a character.
    fileprivate init(_ text: ctoml_text) {
        let bytes = unsafe UnsafeRawBufferPointer(start: text.bytes, count: text.count)
        self = unsafe String(decoding: bytes, as: UTF8.self)
    }
}

extension Origin {
    fileprivate init(file: String, _ position: ctoml_position) {
        self.init(file: file, line: Int(position.line), column: Int(position.column))
    }
}
