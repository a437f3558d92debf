import Decision

extension SignalTest.Comparison {
    /// Whether the signal passes the test. `search` looks for a pattern. Throws if the budget is spent.
    func holds(
        for signal: SignalValue, _ budget: inout EvaluationBudget,
        search: (String, String, _ steps: inout Int64) -> Result<Bool, ConditionError>
    ) throws(ConditionError) -> Bool {
        switch self {
        case .containsAny(let targets): return try Self.contains(signal, targets, &budget)
        case .containsNone(let targets): return try !Self.contains(signal, targets, &budget)
        case .equalsAny(let targets):
            let text = try signal.asText()
            try budget.charge(steps: targets.reduce(0) { $0 + 50 + 4 * Int64($1.utf8.count) })
            let verdicts = targets.map(text.equalsTrimmed)
            if verdicts.contains(true) { return true }
            guard !verdicts.contains(nil) else {
                throw ConditionError(disagreedOn: "what a blank is")
            }
            return false
        case .matchesAny(let patterns):
            let text = try signal.asText()
            for pattern in patterns {
                try budget.charge(pattern: pattern)
                var steps = budget.steps
                let result = search(pattern, text, &steps)
                try budget.charge(steps: steps)
                if try result.get() { return true }
            }
            return false
        case .number(let relation, let target):
            try budget.charge(steps: 50 + 10 * Int64(target.utf8.count))
            return relation.holds(try signal.asNumber(), try Double(agreedOn: target))
        case .version(let relation, let target):
            try budget.charge(steps: 200 + 20 * Int64(target.utf8.count))
            let version = try VersionNumber(try signal.asText())
            let target = try VersionNumber(target)
            let verdict = relation.holds(version, target)
            guard verdict == relation.holds(version.inDoubles, target.inDoubles) else {
                throw ConditionError(disagreedOn: "numbers over 2^53")
            }
            return verdict
        }
    }

    /// Whether the signal contains one of the targets. Each byte of one may be compared with each of the text.
    private static func contains(
        _ signal: SignalValue, _ targets: [String], _ budget: inout EvaluationBudget
    ) throws(ConditionError) -> Bool {
        let text = try signal.asText()
        let room = text.utf8.count
        let steps = targets.reduce(0) { sum, target in
            let count = target.utf8.count
            return sum + 20 + (count > room ? 0 : count * (room - count + 1))
        }
        try budget.charge(steps: Int64(steps))
        return targets.contains(where: text.contains(exactly:))
    }
}

extension String {
    /// Whether two texts are the same without white space at their ends; nil if the official
    /// clients disagree: only one of them counts a character as white space.
    fileprivate func equalsTrimmed(_ other: String) -> Bool? {
        let verdicts = [Blanks.python, .script].map { blanks in
            blanks.trim(self).elementsEqual(blanks.trim(other))
        }
        return verdicts[0] == verdicts[1] ? verdicts[0] : nil
    }
}

/// The characters that count as white space at the ends of a text.
enum Blanks {
    /// By `str.strip` of Python.
    case python
    /// By `String.prototype.trim` of ECMAScript.
    case script
    /// By both of them.
    case both

    /// The text without white space at its ends.
    func trim(_ text: String) -> Substring.UnicodeScalarView {
        var rest = text.unicodeScalars[...].drop(while: contains)
        while let last = rest.last, contains(last) { rest.removeLast() }
        return rest
    }

    private func contains(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09...0x0D, 0x20, 0xA0, 0x1680, 0x2000...0x200A, 0x2028, 0x2029, 0x202F, 0x205F,
            0x3000:
            true
        case 0x1C...0x1F, 0x85: self == .python
        case 0xFEFF: self == .script
        default: false
        }
    }
}

/// The value of a custom signal of this host.
package enum SignalValue: Hashable, Sendable {
    case text(String)
    case integer(Int64)
    case number(Double)

    /// The signal as a text. Throws if the official clients disagree: one of them treats a zero and an empty
    /// text as missing, and they write some numbers differently.
    func asText() throws(ConditionError) -> String {
        try refuseNothing()
        switch self {
        case .text(let text): return text
        case .integer(let number):
            guard number.magnitude <= 1 << 53 else {
                throw ConditionError(disagreedOn: "\(number)")
            }
            return String(number)
        case .number(let number):
            let isWrittenAlike =
                number != number.rounded() && (1e-4..<1e16).contains(number.magnitude)
            guard isWrittenAlike else { throw ConditionError(disagreedOn: "\(number)") }
            return number.description
        }
    }

    /// The signal as a number. Throws if the official clients disagree.
    func asNumber() throws(ConditionError) -> Double {
        try refuseNothing()
        switch self {
        case .text(let text): return try Double(agreedOn: text)
        case .integer(let number): return Double(number)
        case .number(let number): return number
        }
    }

    private func refuseNothing() throws(ConditionError) {
        switch self {
        case .text(""): throw ConditionError(disagreedOn: "an empty text")
        case .integer(0), .number(0): throw ConditionError(disagreedOn: "zero")
        case .text, .integer, .number: break
        }
    }
}

extension ConditionError {
    /// The official clients come to different results.
    init(disagreedOn what: String) { self.init("the official clients disagree on \(what)") }
}

extension Double {
    /// The number that both official clients read in a text: decimal digits, with a sign, a fraction and an
    /// exponent at most, or `Infinity`, with white space around.
    ///
    /// One client also reads `nan`, `inf`, `1_0` and digits of every script, the other `0x10` and no text.
    init(agreedOn text: String) throws(ConditionError) {
        let trimmed = String(Blanks.both.trim(text))
        guard trimmed.isDecimal, let value = Double(trimmed) else {
            throw ConditionError("\(quoted(text)) is not a number to both official clients")
        }
        self = value
    }
}

extension String {
    /// Whether it holds only characters of a decimal number, or is `Infinity` with a sign at most.
    fileprivate var isDecimal: Bool {
        let hasSign = utf8.first.map("+-".utf8.contains) ?? false
        return utf8.dropFirst(hasSign ? 1 : 0).elementsEqual("Infinity".utf8)
            || utf8.allSatisfy("0123456789+-.eE".utf8.contains)
    }
}

/// A version as conditions compare it: one to five numbers with dots between. Missing numbers are 0.
struct VersionNumber: Comparable {
    private let segments: [Int64]

    /// Reads numbers that both official clients read alike: digits, with a sign and white space around at
    /// most, not negative, and of up to 16 digits.
    init(_ text: String) throws(ConditionError) {
        var segments: [Int64] = []
        for part in text.split(separator: ".", omittingEmptySubsequences: false) {
            guard let segment = Self.segment(String(part)) else {
                throw ConditionError("\(quoted(text)) is not a version to both official clients")
            }
            segments.append(segment)
        }
        guard segments.count <= Self.mostSegments else {
            throw ConditionError(disagreedOn: "versions of more than \(Self.mostSegments) numbers")
        }
        self.segments = segments + Array(repeating: 0, count: Self.mostSegments - segments.count)
    }

    private init(segments: [Int64]) { self.segments = segments }

    /// The version as one of the clients reads it, where 2^53 + 1 is 2^53. The other one keeps every digit.
    var inDoubles: Self { Self(segments: segments.map { Int64(Double($0)) }) }

    /// Compares number by number.
    static func < (left: Self, right: Self) -> Bool {
        left.segments.lexicographicallyPrecedes(right.segments)
    }

    private static let mostSegments = 5

    private static func segment(_ text: String) -> Int64? {
        let trimmed = String(Blanks.both.trim(text))
        guard trimmed.utf8.count <= 16, let number = Int64(trimmed), number >= 0 else { return nil }
        return number
    }
}
