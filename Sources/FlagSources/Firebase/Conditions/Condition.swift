import Decision
package import JSON

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

extension Condition {
    /// Reads a condition. The service leaves zeros and empty lists out (proto3 in JSON). A malformed or unknown one
    /// becomes `.unreadable`, which is false and no error: the rest of the template stays useful.
    package init(_ value: JSON.Value?) {
        var room = Int.max
        self.init(value, &room)
    }

    /// Reads a condition and those in it, while there is room for so many. The others are false.
    init(_ value: JSON.Value?, _ room: inout Int) {
        do throws(ConditionError) {
            room -= 1
            guard room >= 0 else { throw ConditionError("the template has too many conditions") }
            guard let object = value?.object else { throw ConditionError("it is not an object") }
            if let members = try object.object("orCondition") {
                self = .or(try members.conditions(&room))
            } else if let members = try object.object("andCondition") {
                self = .and(try members.conditions(&room))
            } else if try object.object("true") != nil {
                self = .constant(true)
            } else if try object.object("false") != nil {
                self = .constant(false)
            } else if let members = try object.object("percent") {
                self = .percent(try Percent(members))
            } else if let members = try object.object("customSignal") {
                self = .customSignal(try SignalTest(members))
            } else {
                throw ConditionError(
                    object.isEmpty
                        ? "it is empty" : "its kind \(quoted(object.members[0].key)) is not known")
            }
        } catch {
            self = .unreadable(error.cause)
        }
    }
}

extension Percent {
    fileprivate init(_ members: JSON.Object) throws(ConditionError) {
        seed = try members.text("seed") ?? ""
        switch try members.text("percentOperator") {
        case "LESS_OR_EQUAL": bounds = .upTo(try members.microPercent("microPercent"))
        case "GREATER_THAN": bounds = .above(try members.microPercent("microPercent"))
        case "BETWEEN":
            let range = try members.object("microPercentRange") ?? JSON.Object()
            bounds = .between(
                try range.microPercent("microPercentLowerBound"),
                try range.microPercent("microPercentUpperBound"))
        case let word: throw ConditionError(operator: word)
        }
    }
}

extension SignalTest {
    fileprivate init(_ members: JSON.Object) throws(ConditionError) {
        guard let key = try members.text("customSignalKey"), !key.isEmpty else {
            throw ConditionError("it names no signal")
        }
        let targets = try members.texts("targetCustomSignalValues")
        guard let first = targets.first else { throw ConditionError("it has no target value") }
        let word = try members.text("customSignalOperator") ?? ""
        self.key = key
        if let relation = Relation(word, of: "NUMERIC_") {
            comparison = .number(relation, first)
        } else if let relation = Relation(word, of: "SEMANTIC_VERSION_") {
            comparison = .version(relation, first)
        } else {
            switch word {
            case "STRING_CONTAINS": comparison = .containsAny(targets)
            case "STRING_DOES_NOT_CONTAIN": comparison = .containsNone(targets)
            case "STRING_EXACTLY_MATCHES": comparison = .equalsAny(targets)
            case "STRING_CONTAINS_REGEX": comparison = .matchesAny(targets)
            default: throw ConditionError(operator: word)
            }
        }
    }
}

extension Relation {
    fileprivate init?(_ word: String, of family: String) {
        guard word.hasPrefix(family) else { return nil }
        self.init(rawValue: String(word.dropFirst(family.count)))
    }
}

extension ConditionError {
    fileprivate init(operator word: String?) {
        self.init(word.map { "its operator \(quoted($0)) is not known" } ?? "it has no operator")
    }
}

extension JSON.Object {
    /// The member as `read` finds it; nil if it is missing, or null where that means the same.
    func member<Value>(
        _ key: String, _ kind: String, isNullMissing: Bool = true, _ read: (JSON.Value) -> Value?
    ) throws(ConditionError) -> Value? {
        guard let value = self[key], !isNullMissing || value != .null else { return nil }
        guard let member = read(value) else {
            throw ConditionError("'\(key)' is \(value.typeName), not \(kind)")
        }
        return member
    }

    fileprivate func object(_ key: String) throws(ConditionError) -> JSON.Object? {
        try member(key, "an object", \.object)
    }

    fileprivate func text(_ key: String) throws(ConditionError) -> String? {
        try member(key, "a string", \.string)
    }

    fileprivate func texts(_ key: String) throws(ConditionError) -> [String] {
        let values = try member(key, "an array", \.array) ?? []
        let texts = values.compactMap(\.string)
        guard texts.count == values.count else {
            throw ConditionError("'\(key)' holds a value that is not a string")
        }
        return texts
    }

    fileprivate func microPercent(_ key: String) throws(ConditionError) -> Int64 {
        guard let number = try member(key, "a number", \.number) else { return 0 }
        guard let count = number.int64 else {
            throw ConditionError("'\(key)' is \(number.literal), not a whole number")
        }
        return count
    }

    fileprivate func conditions(_ room: inout Int) throws(ConditionError) -> [Condition] {
        try member("conditions", "an array", \.array)?.map { Condition($0, &room) } ?? []
    }
}
