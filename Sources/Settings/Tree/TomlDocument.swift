import CToml

/// A document as toml++ parsed it; freed when it goes out of scope.
@safe struct TomlDocument: ~Copyable {
    private let document: OpaquePointer
    private let file: String

    /// Throws only where memory runs out.
    init(file: String, bytes: [UInt8]) throws(Diagnostic) {
        let parsed = unsafe bytes.withUnsafeBufferPointer {
            unsafe ctoml_parse($0.baseAddress, $0.count)
        }
        guard let parsed = unsafe parsed else {
            throw Diagnostic(
                "file cannot be parsed: out of memory", at: Origin(file: file, line: 1, column: 1))
        }
        unsafe self.document = parsed
        self.file = file
    }

    deinit {
        unsafe ctoml_free(document)
    }

    /// The whole tree, or what is wrong with the syntax. Members of tables come in the order of their
    /// places.
    func root() throws(Diagnostic) -> Table {
        if let error = unsafe ctoml_document_error(document) {
            let text = unsafe Self.sentence(String(error.pointee.text))
            throw unsafe Diagnostic(text, at: Origin(file: file, error.pointee.position))
        }
        let root = unsafe ctoml_document_node(document, 0)
        var index = 1
        return unsafe table(of: root.children, from: &index)
    }

    /// Takes the next `count` nodes, and what lies in them, as members of a table. It goes no deeper
    /// than `ctoml_parse` lets a document nest.
    private func table(of count: Int, from index: inout Int) -> Table {
        var members: [Table.Member] = []
        for _ in 0..<count {
            let next = unsafe ctoml_document_node(document, index)
            let key = unsafe String(next.key)
            let keyOrigin = unsafe Origin(file: file, next.key_position)
            let node = node(from: &index)
            members.append(Table.Member(key: key, keyOrigin: keyOrigin, node: node))
        }
        members.sort {
            ($0.keyOrigin.line, $0.keyOrigin.column) < ($1.keyOrigin.line, $1.keyOrigin.column)
        }
        return Table(members)
    }

    /// Takes the next node, and what lies in it.
    private func node(from index: inout Int) -> Node {
        let next = unsafe ctoml_document_node(document, index)
        index += 1
        let value: Node.Value =
            switch unsafe next.kind {
            case .table: unsafe .table(table(of: next.children, from: &index))
            case .array: unsafe .array((0..<next.children).map { _ in node(from: &index) })
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

    /// What toml++ says, as a part of our sentence: it begins `Error while parsing key-value pair:`
    /// or so, and quotes the document as it is.
    private static func sentence(_ text: String) -> String {
        let opening = "Error while parsing "
        let sentence =
            text.hasPrefix(opening)
            ? "syntax error in \(text.dropFirst(opening.count))"
            : "syntax error: \(text.prefix(1).lowercased())\(text.dropFirst())"
        return (sentence + hint(for: text)).escapedForDisplay
    }

    /// What the mistake behind the two errors usually is that tell it worst.
    private static func hint(for text: String) -> String {
        if text.hasSuffix("could not determine value type") {
            return "; a text needs quotes"
        }
        let parts = text.split(separator: ":")
        if parts.contains(where: { $0.hasPrefix(" unescaped control characters") }) {
            return "; is the closing quote missing?"
        }
        return ""
    }
}

extension String {
    /// A copy; bytes that are not UTF-8 (an error's text may be cut inside of a character) become
    /// U+FFFD.
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
