/// The offsets of a TZif file (RFC 9636). Designations and daylight flags are skipped.
///
/// The bytes are not trusted: each length is checked against the size of the file before use, so that
/// the file's size bounds memory and time.
struct TZif {
    /// The second of each transition, ascending.
    let starts: [Int64]
    /// The offset before the first transition, and the offset after each: one more than `starts`.
    let offsets: [UTCOffset]
    /// The footer's rule for the time after the last transition; nil without a footer.
    let rule: Rule?

    /// Reads the bytes of a file.
    init(_ bytes: [UInt8]) throws(ZoneError.Flaw) {
        var reader = BigEndianReader(bytes)
        let legacy = try Header(from: &reader, otherwise: .notTZif)
        guard legacy.version != 0 else {
            (starts, offsets) = try reader.takeData(legacy, timeWidth: 4)
            rule = nil
            return
        }
        // The first block is for readers of version 1 (RFC 9636 §3).
        guard reader.skip(legacy.dataLength(timeWidth: 4)) else { throw .truncated(.data) }
        let header = try Header(from: &reader, otherwise: .noSecondHeader)
        (starts, offsets) = try reader.takeData(header, timeWidth: 8)
        rule = try reader.takeFooter()
    }

    /// The header of a block: the counts of the items that follow.
    fileprivate struct Header {
        let version: UInt8
        private let counts: [Int]

        var utIndicators: Int { counts[0] }
        var standardIndicators: Int { counts[1] }
        var leapSeconds: Int { counts[2] }
        var transitions: Int { counts[3] }
        var types: Int { counts[4] }
        var designationBytes: Int { counts[5] }

        init(
            from reader: inout BigEndianReader, otherwise missing: ZoneError.Flaw
        ) throws(ZoneError.Flaw) {
            guard reader.take(prefix: "TZif") else { throw missing }
            guard let version = reader.takeByte(), reader.skip(15) else {
                throw .truncated(.header)
            }
            var counts: [Int] = []
            for _ in 0..<6 {
                guard let count = reader.takeCount() else { throw .truncated(.header) }
                counts.append(count)
            }
            guard version == 0 || version >= UInt8(ascii: "2"), version <= UInt8(ascii: "9") else {
                throw .unknownVersion(version)
            }
            (self.version, self.counts) = (version, counts)
        }

        /// The number of bytes after the header. Counts have 32 bits, so the sum fits.
        func dataLength(timeWidth: Int) -> Int {
            transitions * (timeWidth + 1) + types * 6 + designationBytes
                + leapSeconds * (timeWidth + 4) + standardIndicators + utIndicators
        }
    }
}

extension BigEndianReader {
    fileprivate mutating func takeData(
        _ header: TZif.Header, timeWidth: Int
    ) throws(ZoneError.Flaw) -> (starts: [Int64], offsets: [UTCOffset]) {
        guard header.types > 0 else { throw .noTypes }
        guard header.leapSeconds == 0 else { throw .leapSeconds }
        guard [0, header.types].contains(header.utIndicators),
            [0, header.types].contains(header.standardIndicators)
        else { throw .strayIndicators }
        guard var data = take(header.dataLength(timeWidth: timeWidth)) else {
            throw .truncated(.data)
        }

        var starts: [Int64] = []
        for index in 0..<header.transitions {
            guard let start = data.takeSigned(width: timeWidth) else { throw .truncated(.data) }
            if let last = starts.last, start <= last { throw .unsorted(transition: index) }
            starts.append(start)
        }
        guard let indexes = data.takeBytes(header.transitions) else { throw .truncated(.data) }
        var types: [UTCOffset] = []
        for index in 0..<header.types {
            guard let seconds = data.takeSigned(width: 4), data.skip(1),
                let designation = data.takeByte()
            else { throw .truncated(.data) }
            guard let offset = UTCOffset(seconds: Int(seconds)) else {
                throw .offsetOutOfRange(type: index, seconds: Int(seconds))
            }
            guard designation < header.designationBytes else {
                throw .noSuchDesignation(type: index)
            }
            types.append(offset)
        }
        var offsets = [types[0]]
        for (transition, type) in indexes.enumerated() {
            guard type < types.count else { throw .noSuchType(transition: transition) }
            offsets.append(types[Int(type)])
        }
        return (starts, offsets)
    }

    /// The footer: two newlines with a TZ string or nothing between them. Bytes behind it belong to
    /// future versions of the format (tzfile(5), interoperability considerations).
    fileprivate mutating func takeFooter() throws(ZoneError.Flaw) -> TZif.Rule? {
        guard take(prefix: "\n"), let text = takeBytes(upTo: UInt8(ascii: "\n")) else {
            throw .truncated(.footer)
        }
        return text.isEmpty ? nil : try TZif.Rule(footer: text)
    }
}

/// A position in untrusted bytes. Each `take` moves past the bytes that it returns, and returns nil
/// if the bytes end before.
private struct BigEndianReader {
    private let bytes: [UInt8]
    private var index: Int
    private let end: Int

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        (index, end) = (0, bytes.count)
    }

    private init(_ bytes: [UInt8], from index: Int, to end: Int) {
        (self.bytes, self.index, self.end) = (bytes, index, end)
    }

    /// Takes these characters if they come next; says whether they did.
    mutating func take(prefix: String) -> Bool {
        guard bytes[index..<end].starts(with: prefix.utf8) else { return false }
        index += prefix.utf8.count
        return true
    }

    /// A reader of the next `count` bytes.
    mutating func take(_ count: Int) -> BigEndianReader? {
        let start = index
        guard skip(count) else { return nil }
        return BigEndianReader(bytes, from: start, to: index)
    }

    mutating func skip(_ count: Int) -> Bool {
        guard count <= end - index else { return false }
        index += count
        return true
    }

    mutating func takeByte() -> UInt8? {
        takeBytes(1)?.first
    }

    mutating func takeBytes(_ count: Int) -> ArraySlice<UInt8>? {
        let start = index
        return skip(count) ? bytes[start..<index] : nil
    }

    /// The bytes before the next delimiter, which is taken too.
    mutating func takeBytes(upTo delimiter: UInt8) -> ArraySlice<UInt8>? {
        guard let stop = bytes[index..<end].firstIndex(of: delimiter) else { return nil }
        defer { index = stop + 1 }
        return bytes[index..<stop]
    }

    /// An unsigned number of 32 bits.
    mutating func takeCount() -> Int? {
        takeBytes(4).map { $0.reduce(0) { $0 << 8 | Int($1) } }
    }

    /// A number in two's complement, of 4 or 8 bytes.
    mutating func takeSigned(width: Int) -> Int64? {
        takeBytes(width).map { bytes in
            let isNegative = bytes.first.map { $0 >= 0x80 } ?? false
            return bytes.reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) }
        }
    }
}

/// Why a TZif file cannot be used.
package struct ZoneError: Error, Hashable, CustomStringConvertible {
    /// The zone's name.
    package let zone: String
    /// The flaw of its file.
    package let flaw: Flaw

    /// A flaw of a TZif file.
    package enum Flaw: Error, Hashable {
        case notTZif
        /// Files of version 2 and later need a second header, for the 64-bit data.
        case noSecondHeader
        case unknownVersion(UInt8)
        /// The file ends inside this part.
        case truncated(Part)
        case leapSeconds
        case noTypes
        /// The number of indicators is neither 0 nor that of the types.
        case strayIndicators
        case offsetOutOfRange(type: Int, seconds: Int)
        case noSuchDesignation(type: Int)
        case noSuchType(transition: Int)
        case unsorted(transition: Int)
        /// This was expected at this character of the footer, counted from 1.
        case footer(String, expected: String, at: Int)
    }

    /// A part of the file.
    package enum Part: String, Sendable {
        case header
        case data = "data block"
        case footer
    }

    /// `read time zone 'Asia/Tokyo': it does not begin with 'TZif'`
    package var description: String {
        "read time zone '\(zone.excerpt)': \(flaw)"
    }
}

extension ZoneError.Flaw: CustomStringConvertible {
    /// The part of the message behind the colon.
    package var description: String {
        switch self {
        case .notTZif: "it does not begin with 'TZif'"
        case .noSecondHeader: "it has no second header, as its version asks for"
        case .unknownVersion(let byte): "unknown version byte \(byte)"
        case .truncated(let part): "it ends before its \(part.rawValue) does"
        case .leapSeconds: "it counts leap seconds, which the system clock does not"
        case .noTypes: "it has no local time type"
        case .strayIndicators: "its indicators are neither none nor one for each local time type"
        case .offsetOutOfRange(let type, let seconds):
            "local time type \(type) is \(seconds) s from UTC, which is not from "
                + "\(UTCOffset.range.lowerBound) to \(UTCOffset.range.upperBound)"
        case .noSuchDesignation(let type): "local time type \(type) has no designation"
        case .noSuchType(let transition): "transition \(transition) has no local time type"
        case .unsorted(let transition):
            "transition \(transition) is not later than the one before it"
        case .footer(let text, let expected, let column):
            "\(expected) expected at character \(column) of its footer '\(text.excerpt)'"
        }
    }
}
