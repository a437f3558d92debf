/// The offsets of a zone, as a TZif file has them (RFC 9636), without designations and daylight flags.
struct TZif: Hashable {
    /// The second of each transition, ascending.
    let starts: [Int64]
    /// The offset before the first transition, and the offset after each: one more than `starts`.
    var offsets: [UTCOffset]
    /// The rule for the time after the last transition; nil if the last offset holds for good.
    var rule: DaylightRule?

    /// The offset at a second, and a later second up to which it is known to hold.
    func span(at second: Int64) -> OffsetSpan {
        let passed = starts.countOfFirst { $0 <= second }
        if passed < starts.count { return (offsets[passed], starts[passed]) }
        return rule?.span(at: second) ?? (offsets[passed], .max)
    }
}

extension Array {
    /// How many elements are `early`, which all come before the others: a binary search.
    @inlinable
    package func countOfFirst(_ isEarly: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isEarly(self[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension TZif {
    /// Reads a file that is not trusted: the size bounds each length before its use, and so memory and time.
    init(_ bytes: [UInt8]) throws(TimeProblem) {
        var cursor = ByteCursor(bytes)
        let legacy = try Header(
            from: &cursor, otherwise: TimeProblem("it does not begin with 'TZif'"))
        guard legacy.version != 0 else {
            self = try cursor.readData(legacy, timeWidth: 4)
            return
        }
        // The first block is for readers of version 1 (RFC 9636 §3).
        _ = try cursor.read(legacy.dataLength(timeWidth: 4), of: "data block")
        let header = try Header(
            from: &cursor,
            otherwise: TimeProblem("it has no second header, as its version asks for"))
        self = try cursor.readData(header, timeWidth: 8)

        // The footer: two newlines with a TZ string or nothing between them. Bytes behind it belong to
        // future versions of the format (tzfile(5), interoperability considerations).
        guard cursor.consume("\n") else { throw .truncated("footer") }
        let footer = cursor.read { $0 != UInt8(ascii: "\n") }
        guard cursor.consume("\n") else { throw .truncated("footer") }
        if !footer.isEmpty { (offsets[starts.count], rule) = try DaylightRule.read(footer: footer) }
    }

    /// The header of a block: the counts of the items that follow.
    fileprivate struct Header {
        let version: UInt8
        let utIndicators, standardIndicators, leapSeconds: Int
        let transitions, types, designationBytes: Int

        init(from cursor: inout ByteCursor, otherwise missing: TimeProblem) throws(TimeProblem) {
            guard cursor.consume(word: "TZif") else { throw missing }
            version = try cursor.read(16, of: "header").first ?? 0
            let numbers = try cursor.read(6 * 4, of: "header")
            let counts = (0..<6).map { Int(numbers.dropFirst($0 * 4).prefix(4).bigEndian) }
            (utIndicators, standardIndicators, leapSeconds) = (counts[0], counts[1], counts[2])
            (transitions, types, designationBytes) = (counts[3], counts[4], counts[5])
            guard version == 0 || (UInt8(ascii: "2")...UInt8(ascii: "9")).contains(version) else {
                throw TimeProblem("unknown version byte \(version)")
            }
        }

        /// The number of bytes after the header. Counts have 32 bits, so the sum fits.
        func dataLength(timeWidth: Int) -> Int {
            transitions * (timeWidth + 1) + types * 6 + designationBytes
                + leapSeconds * (timeWidth + 4) + standardIndicators + utIndicators
        }
    }
}

extension ByteCursor {
    /// Takes this many bytes of a part of the file; throws if it ends before.
    fileprivate mutating func read(
        _ count: Int, of part: String
    ) throws(TimeProblem) -> ArraySlice<UInt8> {
        guard let bytes = read(count: count) else { throw .truncated(part) }
        return bytes
    }

    fileprivate mutating func readData(_ header: TZif.Header, timeWidth: Int) throws(TimeProblem)
        -> TZif
    {
        guard header.types > 0 else { throw TimeProblem("it has no local time type") }
        guard header.leapSeconds == 0 else { throw .leapSeconds }
        guard [0, header.types].contains(header.utIndicators),
            [0, header.types].contains(header.standardIndicators)
        else {
            throw TimeProblem("its indicators are neither none nor one for each local time type")
        }
        var data = ByteCursor(try read(header.dataLength(timeWidth: timeWidth), of: "data block"))

        var starts: [Int64] = []
        for index in 0..<header.transitions {
            let start = try data.readSigned(width: timeWidth)
            if let last = starts.last, start <= last {
                throw TimeProblem("transition \(index) is not later than the one before it")
            }
            starts.append(start)
        }
        let indexes = try data.read(header.transitions, of: "data block")
        var types: [UTCOffset] = []
        for index in 0..<header.types {
            let seconds = Int(try data.readSigned(width: 4))
            // Whether it is daylight saving, and the index of its designation.
            let designation = try data.read(2, of: "data block").last ?? 0
            guard UTCOffset.range.contains(seconds) else {
                throw TimeProblem(
                    "local time type \(index) is \(seconds) s from UTC, which is not from "
                        + "\(UTCOffset.range.lowerBound) to \(UTCOffset.range.upperBound)")
            }
            guard designation < header.designationBytes else {
                throw TimeProblem("local time type \(index) has no designation")
            }
            types.append(UTCOffset(seconds: seconds))
        }
        var offsets = [types[0]]
        for (transition, type) in indexes.enumerated() {
            guard type < types.count else {
                throw TimeProblem("transition \(transition) has no local time type")
            }
            offsets.append(types[Int(type)])
        }
        return TZif(starts: starts, offsets: offsets, rule: nil)
    }

    /// A number in two's complement, of 4 or 8 bytes.
    private mutating func readSigned(width: Int) throws(TimeProblem) -> Int64 {
        let number = try read(width, of: "data block").bigEndian
        return width == 4 ? Int64(Int32(truncatingIfNeeded: number)) : number
    }
}

extension TimeProblem {
    package static let leapSeconds = TimeProblem(
        "it counts leap seconds, which the system clock does not")

    fileprivate static func truncated(_ part: String) -> TimeProblem {
        TimeProblem("it ends before its \(part) does")
    }
}

extension ArraySlice<UInt8> {
    fileprivate var bigEndian: Int64 { reduce(0) { $0 << 8 | Int64($1) } }
}
