/// What tells this host from the others where an order reaches some hosts before others.
///
/// Each order gives a host a slot of its own: the host has the same slot of an order after every restart, and
/// its slots of two orders have nothing to do with each other. Otherwise the same hosts would always be
/// the first.
package enum HostPlace: Hashable, Sendable {
    /// The slots follow from what names this host alone, such as its machine id. They all are in this part.
    case named(String, within: SlotRange = .all)
    /// The same slot of every order, for a trial.
    case fixed(Slot)

    /// The slot of this host in the order of this seed.
    package func slot(seed: String) -> Slot {
        switch self {
        case .named(let name, let part): part.slot(Slot(of: name, seed: seed))
        case .fixed(let slot): slot
        }
    }

    /// This host in another part of every order. A fixed slot stays.
    func within(_ part: SlotRange) -> HostPlace {
        switch self {
        case .named(let name, _): .named(name, within: part)
        case .fixed: self
        }
    }
}

/// A part of the slots of every order, such as `50%-100%`: where canaries are before all others, or a till after them.
package struct SlotRange: Hashable, Sendable {
    /// The first slot of the part.
    package let lower: Int
    /// The slot after its last one.
    package let upper: Int

    /// Where a host is that is in no part of its own.
    package static let all = SlotRange(lower: 0, upper: Slot.count)

    private init(lower: Int, upper: Int) { (self.lower, self.upper) = (lower, upper) }

    /// Reads two percentages, the lower one first, such as `12.5%-50%`: each has at most four decimals, the share of
    /// one slot. Nil for any other text, and for a part without a slot.
    package init?(_ text: String) {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map(Self.slots)
        guard ends.count == 2, let lower = ends[0], let upper = ends[1], lower < upper else {
            return nil
        }
        self.init(lower: lower, upper: upper)
    }

    /// As it is written in a configuration.
    package var text: String { "\(Self.percent(lower))-\(Self.percent(upper))" }

    /// The slot in this part that lies where `slot` lies among all.
    func slot(_ slot: Slot) -> Slot {
        Slot(lower + slot.number * (upper - lower) / Slot.count) ?? slot
    }

    /// The share of the hosts of this part that an order has reached, from 0 to 1.
    package func share(within reach: Int) -> Double {
        Double(min(max(reach - lower, 0), upper - lower)) / Double(upper - lower)
    }

    private static func percent(_ slots: Int) -> String {
        Rollout.share(slots).filter { $0 != " " }
    }

    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

    /// A percentage as a number of slots; nil for any other text.
    private static func slots(_ text: Substring) -> Int? {
        let bytes = Array(text.utf8)
        guard bytes.last == UInt8(ascii: "%") else { return nil }
        let parts = bytes.dropLast().split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), (1...3).contains(parts[0].count) else { return nil }
        let decimals = parts.count == 2 ? parts[1] : [digits.lowerBound]
        guard (1...4).contains(decimals.count),
            (parts[0] + decimals).allSatisfy(digits.contains)
        else { return nil }
        let padding = Array(repeating: digits.lowerBound, count: 4 - decimals.count)
        let slots = (parts[0] + decimals + padding).reduce(0) {
            $0 * 10 + Int($1 - digits.lowerBound)
        }
        return slots <= Slot.count ? slots : nil
    }
}

/// One of the million equal parts into which an order divides all hosts.
package struct Slot: Hashable, Sendable {
    /// 0 to 999,999.
    package let number: Int

    package static let count = 1_000_000

    /// Nil for a number that is no slot.
    package init?(_ number: Int) {
        guard (0..<Self.count).contains(number) else { return nil }
        self.number = number
    }

    /// The slot of a host in the order of a seed: a hash of both, scaled to the number of slots.
    package init(of name: String, seed: String) {
        // No name has a zero byte, so that no other pair gives the same bytes.
        let hash = SipHash.hash(Array(name.utf8) + [0] + Array(seed.utf8))
        number = Int(hash.multipliedFullWidth(by: UInt64(Self.count)).high)
    }
}

/// SipHash-2-4 (Aumasson, Bernstein, 2012) with the key of its authors' test vectors: a hash that others can
/// compute too. Swift's own hash differs from process to process.
package enum SipHash {
    /// The hash of these bytes.
    package static func hash(_ bytes: [UInt8]) -> UInt64 {
        var state = State()
        var word: UInt64 = 0
        for (position, byte) in bytes.enumerated() {
            word |= UInt64(byte) << (8 * UInt64(position % 8))
            if position % 8 == 7 {
                state.absorb(word)
                word = 0
            }
        }
        state.absorb(word | UInt64(bytes.count & 0xFF) << 56)
        return state.finish()
    }

    /// The bytes 0 to 15, in little-endian order.
    private static let key: (UInt64, UInt64) = (0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908)

    private struct State {
        private var v0 = 0x736F_6D65_7073_6575 ^ key.0
        private var v1 = 0x646F_7261_6E64_6F6D ^ key.1
        private var v2 = 0x6C79_6765_6E65_7261 ^ key.0
        private var v3 = 0x7465_6462_7974_6573 ^ key.1

        mutating func absorb(_ word: UInt64) {
            v3 ^= word
            round()
            round()
            v0 ^= word
        }

        mutating func finish() -> UInt64 {
            v2 ^= 0xFF
            for _ in 0..<4 { round() }
            return v0 ^ v1 ^ v2 ^ v3
        }

        private mutating func round() {
            v0 &+= v1
            v1 = v1.rotated(13) ^ v0
            v0 = v0.rotated(32)
            v2 &+= v3
            v3 = v3.rotated(16) ^ v2
            v0 &+= v3
            v3 = v3.rotated(21) ^ v0
            v2 &+= v1
            v1 = v1.rotated(17) ^ v2
            v2 = v2.rotated(32)
        }
    }
}

extension UInt64 {
    /// These bits, rotated to the left by this many.
    fileprivate func rotated(_ count: UInt64) -> UInt64 { self << count | self >> (64 - count) }
}
