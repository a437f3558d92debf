/// A number of bytes, written as `1MiB`, `512KiB` or `100B`.
package struct ByteSize: Hashable, Comparable, Sendable {
    package var bytes: Int

    package init(bytes: Int) {
        self.bytes = bytes
    }

    private static let units: [(unit: String, bytes: Int)] = [
        ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1),
    ]

    /// Nil where `text` is not a whole number and one of the units. One too large for the machine is
    /// the largest.
    package init?(text: String) {
        guard let quantity = Quantity(text),
            let unit = Self.units.first(where: { $0.unit.hasSameBytes(as: quantity.unit) })
        else { return nil }
        bytes = Int(clamping: quantity.times(Int64(unit.bytes)))
    }

    /// The shortest text that `init(text:)` reads as this size.
    package var text: String {
        let fitting = Self.units.first { bytes >= $0.bytes && bytes.isMultiple(of: $0.bytes) }
        guard let fitting else { return "\(bytes)B" }
        return "\(bytes / fitting.bytes)\(fitting.unit)"
    }

    package static func < (left: Self, right: Self) -> Bool { left.bytes < right.bytes }
}

extension ValueType where Value == ByteSize {
    /// A size as an integer of bytes, or as text with a unit.
    static func byteSize(in range: ClosedRange<ByteSize>) -> Self {
        Self(expected: "a number of bytes or a size such as \"512KiB\"") {
            value throws(ValueProblem) in
            let size: ByteSize
            switch value {
            case .integer(let bytes): size = ByteSize(bytes: Int(clamping: bytes))
            case .string(let text):
                guard let read = ByteSize(text: text) else {
                    throw .bad(
                        "size", cause: "write a number and a unit (B, KiB, MiB), such as '512KiB'")
                }
                size = read
            case .float, .boolean, .date, .time, .dateTime, .array, .table: throw .wrongType()
            }
            guard range.contains(size) else {
                let (least, most) = (range.lowerBound.text, range.upperBound.text)
                throw .bad("size", cause: "expected \(least) to \(most)")
            }
            return size
        } write: {
            $0.text.tomlText
        }
    }
}
