/// The complete answer of a server.
package struct HTTPResponse: Hashable, Sendable {
    package var headers: HeaderSection
    /// The decoded body; of an answer that is no success (2xx), as many bytes as the request says.
    package var body: [UInt8]

    /// The status code, such as 200.
    package var status: Int { headers.status }
}

/// The header section of an answer, line by line as it comes.
///
/// It is kept as bytes and searched on demand: of most answers only two or three headers are
/// needed.
package struct HeaderSection: Hashable, Sendable {
    private var bytes: [UInt8] = []
    /// The range of each line in the bytes, with its line end.
    private var lines: [Range<Int>] = []
    /// The status code of the status line; 0 before that came.
    private(set) package var status = 0
    /// Whether the empty line came that ends the section. Lines after it are a trailer.
    private(set) var isComplete = false

    /// Takes a line with its end. A trailer is not kept. A status line starts over: an interim
    /// answer (RFC 9110 §15.2) came before it.
    mutating func take(line: UnsafeRawBufferPointer) {
        guard let first = unsafe line.first, !Self.isLineEnd(first) else {
            isComplete = true
            return
        }
        if unsafe line.starts(with: Self.statusLine) {
            bytes.removeAll(keepingCapacity: true)
            lines.removeAll(keepingCapacity: true)
            isComplete = false
            status = unsafe Self.status(in: line)
        } else if !isComplete {
            if bytes.isEmpty {
                bytes.reserveCapacity(Self.usualSize)
                lines.reserveCapacity(Self.usualCount)
            }
            let start = bytes.count
            unsafe bytes.append(contentsOf: line)
            lines.append(start..<bytes.count)
        }
    }

    /// The value of the first field of that name, which is given in lower case; nil without such a
    /// field, or if the value is no ASCII text.
    package subscript(_ name: String) -> String? {
        for line in lines {
            if let value = value(of: name, in: line) { return value }
        }
        return nil
    }

    /// The values of all fields of that name, which is given in lower case.
    package func values(of name: String) -> [String] {
        lines.compactMap { value(of: name, in: $0) }
    }

    /// The value in the line if it is of that field; nil for another field, or no ASCII text.
    private func value(of name: String, in line: Range<Int>) -> String? {
        guard isField(name, line) else { return nil }
        let value = bytes[trimmed((line.lowerBound + name.utf8.count + 1)..<line.upperBound)]
        for byte in value where !((0x20...0x7E).contains(byte) || byte == 0x09) { return nil }
        return String(decoding: value, as: UTF8.self)
    }

    /// Whether a line is of the field whose name is given in lower case. It is a plain loop because
    /// it runs for every line of every answer.
    private func isField(_ name: String, _ line: Range<Int>) -> Bool {
        var index = line.lowerBound
        for byte in name.utf8 {
            guard index < line.upperBound, Self.lowercased(bytes[index]) == byte else {
                return false
            }
            index += 1
        }
        return index < line.upperBound && bytes[index] == UInt8(ascii: ":")
    }

    /// The header sections of most servers are no larger.
    private static let usualSize = 512
    private static let usualCount = 16

    private static let statusLine = Array("HTTP/".utf8)

    /// `HTTP/1.1 200 OK`, `HTTP/2 200`.
    private static func status(in line: UnsafeRawBufferPointer) -> Int {
        let digits = unsafe line.drop { $0 != UInt8(ascii: " ") }.dropFirst().prefix(3)
        return unsafe digits.reduce(0) { $0 * 10 + Int($1 & 0x0F) }
    }

    private static func isLineEnd(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n")
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// The range without the blanks around it.
    private func trimmed(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, Self.isBlank(bytes[start]) { start += 1 }
        while start < end, Self.isBlank(bytes[end - 1]) { end -= 1 }
        return start..<end
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || isLineEnd(byte)
    }
}
