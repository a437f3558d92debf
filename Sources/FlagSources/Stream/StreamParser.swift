package import Decision
package import HTTP

/// Reads a stream as it comes, each connection by a new parser. It keeps a bounded part, whatever the server
/// sends. It is called from within libcurl, and only adds to the news.
package protocol StreamParser {
    /// Reads the headers of the answer, whose status is 200.
    mutating func parseHead(_ headers: HeaderSection, _ update: inout StreamUpdate)

    /// Reads the next bytes. They may end anywhere, also in the middle of a character.
    mutating func parse(_ bytes: [UInt8], _ update: inout StreamUpdate)

    /// Reads the rest when the server has ended the stream, such as a last line without its end.
    mutating func finish(_ update: inout StreamUpdate)
}

extension StreamParser {
    /// Ignores the headers.
    package mutating func parseHead(_ headers: HeaderSection, _ update: inout StreamUpdate) {}

    /// Drops what is not complete.
    package mutating func finish(_ update: inout StreamUpdate) {}
}

/// The news in the bytes of a stream, bounded. It is never an order: flags come by polls alone.
package struct StreamUpdate: Hashable, Sendable {
    /// The flags may have changed.
    package var isHint = false
    /// How long the next connection must wait after the end of this connection.
    package var retryAfter: Duration?
    /// Why the stream has ended, though its connection may stay open. The kind `.refused` slows down to the
    /// longest wait; any other backs off.
    package var failure: Failure?
    package var bytes = 0

    /// No news.
    package init() {}
}

/// Cuts a stream into lines, wherever its parts end. A line ends with LF, CR or both. At most one line is
/// kept, up to a limit in bytes.
struct LineSplitter {
    /// A line of the stream without its end; nil if it was over the limit, as none of its bytes is kept then.
    typealias Line = [UInt8]?

    private let limit: Int
    private var line: [UInt8] = []
    private var isOverlong = false
    /// Whether the last byte was a CR: an LF after it belongs to the same line end.
    private var endsInReturn = false

    /// A splitter before the first byte. `limit` is that of a line, in bytes.
    init(limit: Int) { self.limit = limit }

    /// The lines that these bytes complete.
    mutating func split(_ bytes: [UInt8]) -> [Line] {
        var found: [Line] = []
        var rest = bytes[...]
        while let first = rest.first {
            if endsInReturn, first == UInt8(ascii: "\n") { rest = rest.dropFirst() }
            endsInReturn = false
            let part = rest.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
            append(part)
            rest = rest[part.endIndex...]
            guard let end = rest.first else { break }
            rest = rest.dropFirst()
            endsInReturn = end == UInt8(ascii: "\r")
            found.append(next())
        }
        return found
    }

    /// The last line, if it has no line end: none if nothing came after the last line end.
    mutating func finish() -> [Line] { line.isEmpty && !isOverlong ? [] : [next()] }

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
        return isOverlong ? nil : line
    }
}
