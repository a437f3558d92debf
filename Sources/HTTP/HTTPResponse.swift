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
/// It is kept as bytes and searched on demand: most answers need only two or three headers.
package struct HeaderSection: Hashable, Sendable {
    private var bytes: [UInt8] = []
    /// The range of each line in the bytes, with its line end.
    private var lines: [Range<Int>] = []
    /// The status code of the status line; 0 before that came.
    private(set) package var status = 0
    /// Whether the empty line came that ends the section. Lines after it are a trailer.
    private(set) var isComplete = false

    /// Takes a line with its end; false if a status line is due and this is none. A trailer is not kept.
    mutating func parse(line: UnsafeRawBufferPointer) -> Bool {
        if awaitsStatusLine { return unsafe parseStatus(line) }
        guard let first = unsafe line.first, !Self.isLineEnd(first) else {
            isComplete = true
            return true
        }
        if isComplete { return true }
        if bytes.isEmpty {
            bytes.reserveCapacity(Self.usualSize)
            lines.reserveCapacity(Self.usualCount)
        }
        let start = bytes.count
        unsafe bytes.append(contentsOf: line)
        lines.append(start..<bytes.count)
        return true
    }

    /// Whether the next line is a status line: the first line of all, and the first one after an interim
    /// answer (RFC 9110 §15.2). A line like it in another place is a field. Switching protocols (101) is
    /// no interim answer: libcurl takes the rest for a body.
    private var awaitsStatusLine: Bool {
        status == 0 || isComplete && status < 200 && status != 101
    }

    /// Begins a section with its status line; false if the line is none.
    private mutating func parseStatus(_ line: UnsafeRawBufferPointer) -> Bool {
        guard let status = unsafe Self.status(in: line) else { return false }
        self.status = status
        bytes.removeAll(keepingCapacity: true)
        lines.removeAll(keepingCapacity: true)
        isComplete = false
        return true
    }

    /// The value of the first field of that name, which is given in lower case; nil without such a
    /// field, or if the value is no ASCII text.
    package subscript(_ name: String) -> String? {
        for line in lines {
            if let value = value(of: name, in: line) { return value }
        }
        return nil
    }

    /// The members of the list that all fields of that name make, without the empty ones (RFC 9110
    /// §5.6.1); nil if one of the fields is no ASCII text. The name is given in lower case.
    package func members(of name: String) -> [String]? {
        var members: [String] = []
        for line in lines where isField(name, line) {
            guard let value = value(of: name, in: line) else { return nil }
            for part in value.utf8.split(separator: UInt8(ascii: ",")) {
                let member = Self.trimmed(part)
                if !member.isEmpty { members.append(String(Substring(member))) }
            }
        }
        return members
    }

    /// Whether the media type is one of JSON, by the MIME Sniffing Standard, "JSON MIME type".
    package var isJSON: Bool {
        guard let type = self["content-type"] else { return false }
        let essence = Self.trimmed(Array(type.utf8).prefix { $0 != UInt8(ascii: ";") })
            .map(Self.lowercased)
        return essence == Self.applicationJSON || essence == Self.textJSON
            || essence.contains(UInt8(ascii: "/"))
                && essence.suffix(Self.jsonSuffix.count).elementsEqual(Self.jsonSuffix)
    }

    private static let applicationJSON = Array("application/json".utf8)
    private static let textJSON = Array("text/json".utf8)
    private static let jsonSuffix = Array("+json".utf8)

    /// The value in the line if it is of that field; nil for another field, or no ASCII text.
    private func value(of name: String, in line: Range<Int>) -> String? {
        guard isField(name, line) else { return nil }
        let value = Self.trimmed(bytes[(line.lowerBound + name.utf8.count + 1)..<line.upperBound])
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

    private static let protocolName = Array("HTTP/".utf8)

    /// The status code of `HTTP/1.1 200 OK` or `HTTP/2 200`; nil for a line that is no status line.
    private static func status(in line: UnsafeRawBufferPointer) -> Int? {
        let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) }
        guard unsafe line.starts(with: protocolName) else { return nil }
        let rest = unsafe line.dropFirst(protocolName.count).drop { isDigit($0) || $0 == 0x2E }
        let digits = unsafe rest.dropFirst().prefix(3)
        guard unsafe rest.first == 0x20, let next = unsafe rest.dropFirst(4).first, isBlank(next),
            unsafe digits.allSatisfy(isDigit)
        else { return nil }
        let status = unsafe digits.reduce(0) { $0 * 10 + Int($1 & 0x0F) }
        return status < 100 ? nil : status
    }

    private static func isLineEnd(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n")
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// The bytes without the blanks around them.
    private static func trimmed<Bytes: BidirectionalCollection<UInt8>>(
        _ bytes: Bytes
    ) -> Bytes.SubSequence {
        let rest = bytes.drop(while: isBlank)
        return rest.lastIndex { !isBlank($0) }.map { rest[...$0] } ?? rest
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || isLineEnd(byte)
    }
}
