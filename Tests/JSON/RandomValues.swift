import Decision
import JSON

extension SeededRandom {
    /// A value of at most `depth` levels.
    mutating func value(depth: Int) -> Value {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 5), using: &self) {
        case 0: return .null
        case 1: return .bool(.random(using: &self))
        case 2: return .number(Number(Int64.random(in: .min ... .max, using: &self)))
        case 3: return .number(Number(Double(bitPattern: next())) ?? 0)
        case 4: return .string(text())
        case 5: return .array((0..<count()).map { _ in value(depth: depth - 1) })
        default:
            return .object(Object((0..<count()).map { _ in (text(), value(depth: depth - 1)) }))
        }
    }

    /// Mostly a small number, sometimes more than an object searches without an index.
    private mutating func count() -> Int {
        Int.random(in: 0...(Int.random(in: 0..<10, using: &self) == 0 ? 30 : 4), using: &self)
    }

    /// A text in which special characters are frequent.
    private mutating func text() -> String {
        var text = ""
        for _ in 0..<count() {
            let range: ClosedRange<UInt32> =
                switch Int.random(in: 0..<6, using: &self) {
                case 0: 0...0x1F
                case 1: 0x80...0x7FF
                case 2: 0xE000...0xFFFF
                case 3: 0x1_0000...0x10_FFFF
                default: 0x20...0x7F
                }
            guard let scalar = Unicode.Scalar(UInt32.random(in: range, using: &self)) else {
                continue
            }
            text.unicodeScalars.append(scalar)
        }
        return text
    }

    /// Changes, adds, removes or repeats some bytes.
    mutating func damage(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        let index = Int.random(in: bytes.indices, using: &self)
        switch Int.random(in: 0..<5, using: &self) {
        case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &self)
        case 1: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &self)
        case 2: bytes.remove(at: index)
        case 3: bytes.insert(UInt8.random(in: .min ... .max, using: &self), at: index)
        default: bytes.append(contentsOf: bytes[index...])
        }
    }
}
