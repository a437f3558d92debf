import Decision
package import JSON

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

/// The result of a search for a regular expression.
package enum SearchResult: Hashable, Sendable {
    case found
    case notFound
    /// The expression cannot be used, for this reason.
    case refused(String)
}

/// The functions of C libraries that the evaluation needs. They are passed in, so that it stays pure.
package struct Tools {
    /// SHA-256.
    package var digest: (_ bytes: [UInt8]) -> [UInt8]
    /// Looks for a regular expression, in RE2's syntax, anywhere in a text.
    package var search: (_ pattern: String, _ text: String) -> SearchResult
}

/// Evaluates conditions as the official clients do, and collects warnings.
///
/// If the two official clients for servers come to different results, the condition is false.
package struct Evaluator {
    private let context: EvaluationContext
    private let tools: Tools
    /// Why conditions are false that may be meant to be true, each a clause.
    package private(set) var warnings: [String] = []
    /// The condition that is being evaluated.
    private var name = ""

    /// An evaluator for one host, without warnings yet.
    package init(_ context: EvaluationContext, _ tools: Tools) {
        self.context = context
        self.tools = tools
    }

    /// Whether the condition of this name is true.
    package mutating func isTrue(_ condition: Condition, named name: String) -> Bool {
        self.name = name
        return isTrue(condition, inside: 0)
    }

    /// How deep `or` and `and` may be nested, and a leaf in them: the official clients count to ten, and
    /// count each level twice.
    private static let depthLimit = 5

    /// Stops at the first condition that decides, as the official clients do: the conditions after
    /// it cause no warning.
    private mutating func isTrue(_ condition: Condition, inside depth: Int) -> Bool {
        guard depth < Self.depthLimit else {
            return warn("'or' and 'and' are nested more than \(Self.depthLimit - 1) deep")
        }
        switch condition {
        case .or(let parts): return parts.contains { isTrue($0, inside: depth + 1) }
        case .and(let parts): return parts.allSatisfy { isTrue($0, inside: depth + 1) }
        case .constant(let value): return value
        case .percent(let percent):
            guard !context.randomizationID.isEmpty else {
                return warn("no randomization id is known")
            }
            let place = percent.place(of: context.randomizationID, digest: tools.digest)
            return percent.bounds.contains(place)
        case .customSignal(let test):
            // A signal that the host does not have fails every test, 'not equal' included.
            guard let signal = context.signals[ExactString(test.key)] else { return false }
            do throws(ConditionError) {
                return try test.comparison.holds(for: signal, search: tools.search)
            } catch {
                return warn("signal \(quoted(test.key)): \(error.cause)")
            }
        case .unreadable(let cause): return warn(cause)
        }
    }

    /// Adds the warning that the present condition counts as false, and returns that value.
    private mutating func warn(_ cause: String) -> Bool {
        warnings.append("condition \(quoted(name)) counts as false: \(cause)")
        return false
    }
}

/// Why a condition counts as false though it may be meant to be true: it is malformed, or the official
/// clients disagree on it.
struct ConditionError: Error, Hashable, Sendable {
    /// One clause, lower case.
    let cause: String

    /// The cause is one clause, lower case.
    init(_ cause: String) { self.cause = cause }
}
