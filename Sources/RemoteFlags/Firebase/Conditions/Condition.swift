/// A condition of a server template, as the service describes it (`OneOfCondition`).
package indirect enum Condition: Hashable, Sendable {
    /// True where one of them is; of none it is false.
    case or([Condition])
    /// True where all of them are; of none it is true.
    case and([Condition])
    case constant(Bool)
    /// True on a part of the hosts.
    case percent(Percent)
    /// True where a signal of this host passes a test.
    case customSignal(SignalTest)
    /// One of a kind that is not known, or that makes no sense: false, for this reason.
    case unreadable(String)
}

/// A part of all hosts, chosen by a digest of each one's randomization id.
package struct Percent: Hashable, Sendable {
    /// What makes the choice independent of that of others; may be empty.
    package var seed: String
    package var part: Part

    package init(seed: String, part: Part) {
        self.seed = seed
        self.part = part
    }

    /// In millionths of a percent.
    package enum Part: Hashable, Sendable {
        case upTo(Int64)
        case above(Int64)
        /// Above the first, and up to the second.
        case between(Int64, Int64)

        func holds(_ place: Int64) -> Bool {
            switch self {
            case .upTo(let limit): place <= limit
            case .above(let limit): place > limit
            case .between(let lower, let upper): lower < place && place <= upper
            }
        }
    }

    /// All of the hosts.
    static let whole: UInt64 = 100_000_000

    /// Where a host is among all: its digest as a number of 256 bits, modulo 10^8.
    package func place(
        of randomizationID: String, digest: (_ bytes: [UInt8]) -> [UInt8]
    ) -> Int64 {
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

    package init(key: String, comparison: Comparison) {
        self.key = key
        self.comparison = comparison
    }

    /// What the signal is compared with.
    package enum Comparison: Hashable, Sendable {
        case containsAny([String])
        case containsNone([String])
        /// Equal to one of them, blanks at the ends aside.
        case equalsAny([String])
        /// A regular expression matches somewhere.
        case matchesAny([String])
        case number(Relation, String)
        case version(Relation, String)
    }
}

/// How the signal has to stand to the target.
package enum Relation: Hashable, CaseIterable, Sendable {
    case less, lessOrEqual, equal, notEqual, greater, greaterOrEqual

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
