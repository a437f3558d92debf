/// What tells this host from the others where an order reaches some hosts before others.
///
/// Each order gives a host a slot of its own: the host has the same slot of an order after every restart, and
/// its slots of two orders have nothing to do with each other. Otherwise the same hosts would always be
/// the first.
package enum HostPlace: Hashable, Sendable {
    /// The slots follow from what names this host alone, such as its machine id.
    case named(String)
    /// The same slot of every order, for a trial.
    case fixed(Slot)

    /// The slot of this host in the order of this seed.
    package func slot(seed: String) -> Slot {
        switch self {
        case .named(let name): Slot(of: name, seed: seed)
        case .fixed(let slot): slot
        }
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
