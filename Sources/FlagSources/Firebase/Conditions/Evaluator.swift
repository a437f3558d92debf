import CRE2
import Decision
package import JSON
import Signing

/// The facts of this host that conditions are evaluated by.
package struct EvaluationContext: Hashable, Sendable {
    /// Percent conditions choose by it; where it is empty, all of them are false.
    package var randomizationID: String
    package var signals: [ExactString: SignalValue]

    /// The facts of a host; without arguments, of a host that has none.
    package init(randomizationID: String = "", signals: [String: SignalValue] = [:]) {
        self.randomizationID = randomizationID
        self.signals = Dictionary(
            signals.map { (ExactString($0.key), $0.value) }, uniquingKeysWith: { $1 })
    }
}

/// The functions of C libraries that the evaluation needs. They are passed in, so that it stays pure.
package struct Tools {
    /// SHA-256.
    package var digest: (_ bytes: [UInt8]) -> [UInt8]
    /// Whether a pattern of RE2 is anywhere in a text. `steps` is the limit, and becomes the number that it took: more
    /// than the limit if that was reached. Fails for an expression that cannot be used.
    package var search:
        (_ pattern: String, _ text: String, _ steps: inout Int64) -> Result<Bool, ConditionError>
}

/// Evaluates conditions as the official clients for servers do, and collects warnings. A condition on which
/// they disagree is false.
package struct Evaluator {
    private let context: EvaluationContext
    private let tools: Tools
    private var budget = EvaluationBudget()
    private var causes: [String] = []
    /// The conditions that were not evaluated to their end, for the budget was spent.
    private var unfinished: (first: String, more: Int)?
    private var name = ""

    /// An evaluator for one host, without warnings yet.
    package init(_ context: EvaluationContext, _ tools: Tools) {
        self.context = context
        self.tools = tools
    }

    /// Why conditions are false that may be meant to be true, each a clause.
    package var warnings: [String] {
        guard let (first, more) = unfinished else { return causes }
        let rest = more == 0 ? "counts" : "and \(more) more count"
        return [
            "condition \(quoted(first)) \(rest) as false: the template takes \(EvaluationBudget.words)"
        ] + causes
    }

    /// Whether the condition of this name is true.
    package mutating func isTrue(_ condition: Condition, named name: String) -> Bool {
        self.name = name
        let isTrue = !budget.isSpent && isTrue(condition, inside: 0)
        guard budget.isSpent else { return isTrue }
        unfinished = unfinished.map { ($0.first, $0.more + 1) } ?? (name, 0)
        return false
    }

    /// How deep `or`, `and` and a leaf may be nested: the official clients count to ten, each level twice.
    private static let depthLimit = 5

    /// Stops at the first condition that decides, as the official clients do: later ones cause no warning.
    private mutating func isTrue(_ condition: Condition, inside depth: Int) -> Bool {
        guard depth < Self.depthLimit else {
            return warn("'or' and 'and' are nested more than \(Self.depthLimit - 1) deep")
        }
        do throws(ConditionError) {
            try budget.charge(steps: 30)
            switch condition {
            case .or(let parts): return parts.contains { isTrue($0, inside: depth + 1) }
            case .and(let parts): return parts.allSatisfy { isTrue($0, inside: depth + 1) }
            case .constant(let value): return value
            case .percent(let percent):
                guard !context.randomizationID.isEmpty else {
                    return warn("no randomization id is known")
                }
                try budget.charge(steps: 200 + Int64(percent.seed.utf8.count))
                let place = percent.place(of: context.randomizationID, digest: tools.digest)
                return percent.bounds.contains(place)
            case .customSignal(let test):
                // A signal that the host does not have fails every test, 'not equal' included.
                guard let signal = context.signals[ExactString(test.key)] else { return false }
                do throws(ConditionError) {
                    return try test.comparison.holds(for: signal, &budget, search: tools.search)
                } catch {
                    throw ConditionError("signal \(quoted(test.key)): \(error.cause)")
                }
            case .unreadable(let cause): return warn(cause)
            }
        } catch {
            return warn(error.cause)
        }
    }

    /// Adds the warning that the present condition counts as false, and returns that value.
    private mutating func warn(_ cause: String) -> Bool {
        if budget.isSpent { return false }
        budget.spend(steps: 500)
        causes.append("condition \(quoted(name)) counts as false: \(cause)")
        return false
    }
}

/// What the evaluation of one template may take, also of a hostile one: it runs on the loop. The limits are
/// counts and not times, so that each host comes to the same result. A step is about 10 ns. The console allows
/// 500 conditions, and 250 characters for an expression.
struct EvaluationBudget {
    private var patterns = Self.patternLimit
    private var patternBytes = Self.patternByteLimit
    /// How many steps are left.
    private(set) var steps = Self.stepLimit
    /// Whether something was refused: from then on every condition is false.
    private(set) var isSpent = false

    private static let patternLimit = 2000
    private static let patternByteLimit = 128 << 10
    private static let stepLimit: Int64 = 5_000_000

    /// The limits, for a sentence.
    static let words =
        "more than \(patternLimit) patterns, \(patternByteLimit >> 10) KiB of them, or "
        + "\(stepLimit) steps"

    /// Takes steps; throws if they are not left.
    mutating func charge(steps taken: Int64) throws(ConditionError) {
        spend(steps: taken)
        if isSpent { throw ConditionError("the template takes \(Self.words)") }
    }

    /// Takes a pattern; throws if it is one too many.
    mutating func charge(pattern: String) throws(ConditionError) {
        patterns -= 1
        patternBytes -= pattern.utf8.count
        if patterns < 0 || patternBytes < 0 { isSpent = true }
        try charge(steps: 0)
    }

    /// Takes steps that were done already.
    mutating func spend(steps taken: Int64) {
        steps -= taken
        if steps < 0 { isSpent = true }
    }
}

/// Why a condition counts as false: it is malformed, or the official clients disagree on it.
package struct ConditionError: Error, Hashable, Sendable {
    let cause: String

    /// The cause is one clause, lower case.
    init(_ cause: String) { self.cause = cause }
}

extension Tools {
    /// The functions of RE2 and libcrypto. RE2's syntax is what the console of the service promises. Swift's own
    /// regular expressions backtrack without limit: twenty letters took sixty seconds.
    package static var real: Tools {
        Tools(digest: SHA256.digest(of:)) { pattern, text, steps in
            var error = [CChar](repeating: 0, count: 256)
            let result = unsafe cre2_search(
                pattern, pattern.utf8.count, text, text.utf8.count, memoryLimit, &steps, &error,
                error.count)
            switch result {
            case .found: return .success(true)
            // Where it is too costly, the steps are over the limit.
            case .missing, .too_costly: return .success(false)
            case .refused:
                let bytes = error.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }
                let cause = String(decoding: bytes, as: UTF8.self)
                return .failure(ConditionError("regular expression \(quoted(pattern)): \(cause)"))
            }
        }
    }

    /// The memory limit of an expression in bytes, compiled and in a search: 250 characters need far less.
    private static let memoryLimit: Int64 = 1 << 18
}
