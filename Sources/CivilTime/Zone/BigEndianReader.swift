/// A position in untrusted bytes. Each `take` moves on by what it returns; nil means that the bytes
/// end before that.
struct BigEndianReader {
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

    /// Takes these characters, or says that something else stands here.
    mutating func take(prefix: String) -> Bool {
        guard bytes[index..<end].starts(with: prefix.utf8) else { return false }
        index += prefix.utf8.count
        return true
    }

    /// The next `count` bytes, to be read on their own.
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

    /// The bytes before the next one of this value, which is taken too.
    mutating func takeBytes(upTo delimiter: UInt8) -> ArraySlice<UInt8>? {
        guard let stop = bytes[index..<end].firstIndex(of: delimiter) else { return nil }
        defer { index = stop + 1 }
        return bytes[index..<stop]
    }

    /// A count: 32 bits without a sign.
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
