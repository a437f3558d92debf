/// What a TZif file (RFC 9636) says about offsets; names of zones and daylight flags are left aside.
///
/// The bytes are not trusted: every length is compared with what is there before it is used, so that
/// memory and time are bounded by the size of the file.
struct TZif {
    /// The transitions: the second at which each comes, ascending.
    let starts: [Int64]
    /// The offset before the first transition, and the one after each: one more than `starts`.
    let offsets: [UTCOffset]
    /// What the footer says about the time after the last transition.
    let rule: Rule?

    init(_ bytes: [UInt8]) throws(ZoneError.Flaw) {
        var reader = BigEndianReader(bytes)
        let legacy = try Header(from: &reader, otherwise: .notTZif)
        guard legacy.version != 0 else {
            (starts, offsets) = try reader.takeData(legacy, timeWidth: 4)
            rule = nil
            return
        }
        // The first block only serves readers of version 1 (RFC 9636 §3).
        guard reader.skip(legacy.dataLength(timeWidth: 4)) else { throw .truncated(.data) }
        let header = try Header(from: &reader, otherwise: .noSecondHeader)
        (starts, offsets) = try reader.takeData(header, timeWidth: 8)
        rule = try reader.takeFooter()
    }

    /// The header of a block: how many of each thing follow.
    fileprivate struct Header {
        let version: UInt8
        let utIndicators, standardIndicators, leapSeconds, transitions, types, designationBytes: Int

        init(
            from reader: inout BigEndianReader, otherwise missing: ZoneError.Flaw
        ) throws(ZoneError.Flaw) {
            guard reader.take(prefix: "TZif") else { throw missing }
            guard let version = reader.takeByte(), reader.skip(15),
                let utIndicators = reader.takeCount(),
                let standardIndicators = reader.takeCount(),
                let leapSeconds = reader.takeCount(),
                let transitions = reader.takeCount(),
                let types = reader.takeCount(),
                let designationBytes = reader.takeCount()
            else { throw .truncated(.header) }
            guard version == 0 || version >= UInt8(ascii: "2"), version <= UInt8(ascii: "9") else {
                throw .unknownVersion(version)
            }
            self.version = version
            self.utIndicators = utIndicators
            self.standardIndicators = standardIndicators
            self.leapSeconds = leapSeconds
            self.transitions = transitions
            self.types = types
            self.designationBytes = designationBytes
        }

        /// How many bytes of data follow the header. Counts have 32 bits, so the sum fits.
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

    /// The footer: a TZ string between two newlines, or nothing between them. What follows it is
    /// left to future versions of the format (`tzfile(5)`, interoperability considerations).
    fileprivate mutating func takeFooter() throws(ZoneError.Flaw) -> TZif.Rule? {
        guard take(prefix: "\n"), let text = takeBytes(upTo: UInt8(ascii: "\n")) else {
            throw .truncated(.footer)
        }
        return text.isEmpty ? nil : try TZif.Rule(footer: text)
    }
}
