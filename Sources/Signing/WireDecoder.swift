/// A position in bytes of SSH's wire format (RFC 4251 §5): numbers and strings, each named by what it
/// should hold. The bytes need not be trusted: a length beyond their end is a problem, never a trap.
struct WireDecoder {
    private var rest: ArraySlice<UInt8>

    /// A reader at the first byte.
    init(_ bytes: [UInt8]) { rest = bytes[...] }

    /// Takes this many bytes.
    mutating func read(_ count: Int, _ name: String) throws(FormatProblem) -> [UInt8] {
        guard count <= rest.count else { throw FormatProblem("\(name) is cut short") }
        defer { rest.removeFirst(count) }
        return Array(rest.prefix(count))
    }

    /// Takes a uint32.
    mutating func number(_ name: String) throws(FormatProblem) -> UInt32 {
        try read(4, name).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Takes a string: its length as a uint32, and its bytes.
    mutating func string(_ name: String) throws(FormatProblem) -> [UInt8] {
        try read(Int(try number(name)), name)
    }

    /// Takes a string as text, to be compared and shown.
    mutating func text(_ name: String) throws(FormatProblem) -> String {
        String(decoding: try string(name), as: UTF8.self)
    }

    /// Throws unless every byte was taken.
    func expectEnd(of name: String) throws(FormatProblem) {
        guard rest.isEmpty else { throw FormatProblem("bytes follow \(name)") }
    }
}

/// Why bytes are no key, no signature or no line of signers: a clause.
struct FormatProblem: Error {
    let clause: String

    /// A problem in these words.
    init(_ clause: String) { self.clause = clause }
}

extension [UInt8] {
    /// These bytes as a string of SSH's wire format.
    var asWireString: [UInt8] {
        let count = UInt32(clamping: count)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) } + self
    }
}
