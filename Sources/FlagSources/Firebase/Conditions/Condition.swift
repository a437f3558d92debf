/// A condition of a server template, as the service describes it (`OneOfCondition`).
package indirect enum Condition: Hashable, Sendable {
    /// True if at least one of the conditions is true; false without conditions.
    case or([Condition])
    /// True if all of the conditions are true, and without conditions.
    case and([Condition])
    case constant(Bool)
    /// True on a part of the hosts.
    case percent(Percent)
    /// True if a signal of this host passes a test.
    case customSignal(SignalTest)
    /// A condition of an unknown kind, or a malformed condition: false, for this reason.
    case unreadable(String)
}

/// A part of all hosts, chosen by a digest of each host's randomization id.
package struct Percent: Hashable, Sendable {
    /// Makes the choice independent of other conditions; may be empty.
    package var seed: String
    package var bounds: Bounds

    /// A condition of these members.
    package init(seed: String, bounds: Bounds) {
        self.seed = seed
        self.bounds = bounds
    }

    /// A range of hosts, in millionths of a percent.
    package enum Bounds: Hashable, Sendable {
        case upTo(Int64)
        case above(Int64)
        /// Above the first, and up to the second.
        case between(Int64, Int64)

        /// Whether a host at this place is in the range.
        func contains(_ place: Int64) -> Bool {
            switch self {
            case .upTo(let limit): place <= limit
            case .above(let limit): place > limit
            case .between(let lower, let upper): lower < place && place <= upper
            }
        }
    }

    /// All of the hosts.
    static let whole: UInt64 = 100_000_000

    /// The place of a host among all, from 0 to 99,999,999: its SHA-256 as a number, modulo 10^8.
    package func place(of randomizationID: String, digest: (_ bytes: [UInt8]) -> [UInt8]) -> Int64 {
        let text = seed.isEmpty ? randomizationID : "\(seed).\(randomizationID)"
        let rest = digest(Array(text.utf8)).reduce(UInt64(0)) { rest, byte in
            (rest << 8 | UInt64(byte)) % Self.whole
        }
        return Int64(rest)
    }
}

/// A test of a signal of this host.
package struct SignalTest: Hashable, Sendable {
    package var key: String
    package var comparison: Comparison

    /// A test of the signal with this key.
    package init(key: String, comparison: Comparison) {
        self.key = key
        self.comparison = comparison
    }

    /// How the signal is compared, and with which targets.
    package enum Comparison: Hashable, Sendable {
        case containsAny([String])
        case containsNone([String])
        /// Equal to one of the targets, without white space at the ends.
        case equalsAny([String])
        /// A regular expression matches somewhere.
        case matchesAny([String])
        case number(Relation, String)
        case version(Relation, String)
    }
}

/// The relation of the signal to the target, with the end of the operator's name.
package enum Relation: String, CaseIterable, Sendable {
    case less = "LESS_THAN"
    case lessOrEqual = "LESS_EQUAL"
    case equal = "EQUAL"
    case notEqual = "NOT_EQUAL"
    case greater = "GREATER_THAN"
    case greaterOrEqual = "GREATER_EQUAL"

    /// Whether the values are in this relation.
    func holds<Value: Comparable>(_ signal: Value, _ target: Value) -> Bool {
        switch self {
        case .less: signal < target
        case .lessOrEqual: signal <= target
        case .equal: signal == target
        case .notEqual: signal != target
        case .greater: signal > target
        case .greaterOrEqual: signal >= target
        }
    }
}
