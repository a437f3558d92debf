/// The bytes that came on one connection, on their way to be messages: each ends with a NUL byte
/// (varlink.org, "Wire format").
///
/// It holds no more than one message of `limit` bytes and what came with its end.
package struct Framing: Sendable {
    /// The longest message that is taken: orders are short.
    package static let limit = 64 << 10

    /// There is no end to a message within the limit.
    package struct TooLong: Error, Hashable {
        package init() {}
    }

    private let limit: Int
    private var bytes: [UInt8] = []
    /// How many of the bytes are known to hold no NUL, so that a message that comes byte by byte is
    /// not searched again and again.
    private var searched = 0

    package init(limit: Int = Framing.limit) {
        self.limit = limit
    }

    package mutating func append(_ more: some Collection<UInt8>) {
        bytes.append(contentsOf: more)
    }

    /// Takes out the first message, without its NUL; nil while none is complete.
    package mutating func next() throws(TooLong) -> [UInt8]? {
        guard let end = bytes[searched...].firstIndex(of: 0) else {
            searched = bytes.count
            guard bytes.count <= limit else { throw TooLong() }
            return nil
        }
        guard end <= limit else { throw TooLong() }
        let message = Array(bytes[..<end])
        bytes.removeFirst(end + 1)
        searched = 0
        return message
    }
}
