/// Cuts a stream into lines, however its parts are cut: each ends with LF, CR or both. It keeps at most
/// one line, and of that no more than a limit.
struct LineSplitter {
    enum Line: Hashable {
        /// Without its end.
        case whole([UInt8])
        /// One over the limit, of which nothing is kept.
        case overlong
    }

    private let limit: Int
    private var line: [UInt8] = []
    private var isOverlong = false
    /// Whether the last byte was a CR: an LF belongs to it.
    private var endsInReturn = false

    init(limit: Int) {
        self.limit = limit
    }

    /// Gives each line that these bytes complete.
    mutating func take(_ bytes: [UInt8], _ give: (Line) -> Void) {
        var rest = bytes[...]
        while let first = rest.first {
            if endsInReturn, first == UInt8(ascii: "\n") { rest = rest.dropFirst() }
            endsInReturn = false
            let part = rest.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
            append(part)
            rest = rest[part.endIndex...]
            guard let end = rest.first else { return }
            rest = rest.dropFirst()
            endsInReturn = end == UInt8(ascii: "\r")
            give(next())
        }
    }

    /// The last line, where it has no end.
    mutating func finish() -> Line? {
        line.isEmpty && !isOverlong ? nil : next()
    }

    private mutating func append(_ part: ArraySlice<UInt8>) {
        guard !isOverlong, line.count + part.count <= limit else {
            isOverlong = true
            line = []
            return
        }
        line += part
    }

    private mutating func next() -> Line {
        defer {
            line = []
            isOverlong = false
        }
        return isOverlong ? .overlong : .whole(line)
    }
}
