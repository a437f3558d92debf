import Decision
package import JSON

/// What conditions are evaluated by.
package struct Context: Hashable, Sendable {
    /// By what percent conditions choose; where it is empty, none of them is true.
    package var randomizationID: String
    package var signals: [ExactString: SignalValue]

    package init(randomizationID: String = "", signals: [String: SignalValue] = [:]) {
        self.randomizationID = randomizationID
        self.signals = Dictionary(
            signals.map { (ExactString($0.key), $0.value) }, uniquingKeysWith: { $1 })
    }
}

/// How the search for a regular expression came out.
package enum SearchResult: Hashable, Sendable {
    case found
    case notFound
    /// The expression cannot be used, for this reason.
    case refused(String)
}

/// The two things that the evaluation of conditions does not do itself.
package struct Tools {
    /// SHA-256.
    package var digest: (_ bytes: [UInt8]) -> [UInt8]
    /// Looks for a regular expression, in RE2's syntax, anywhere in a text.
    package var search: (_ pattern: String, _ text: String) -> SearchResult

    package init(
        digest: @escaping (_ bytes: [UInt8]) -> [UInt8],
        search: @escaping (_ pattern: String, _ text: String) -> SearchResult
    ) {
        self.digest = digest
        self.search = search
    }
}

/// Evaluates conditions as the official clients do, and collects what is doubtful.
///
/// Where the two official clients for servers come to different results, the result here is false:
/// what a condition guards is then as if it did not apply, whichever of them is right.
package struct Evaluator {
    private let context: Context
    private let tools: Tools
    /// What made conditions false that may be meant to be true, each a clause.
    package private(set) var doubts: [String] = []
    /// The condition that is being evaluated.
    private var name = ""

    package init(_ context: Context, _ tools: Tools) {
        self.context = context
        self.tools = tools
    }

    /// Whether the condition of this name is true.
    package mutating func isTrue(_ condition: Condition, named name: String) -> Bool {
        self.name = name
        return isTrue(condition, inside: 0)
    }

    /// How many conditions `or` and `and` may lie in each other: the official clients count to ten,
    /// and count each of them twice.
    private static let depthLimit = 5

    /// Stops at the first that decides, as the official clients do: what comes after it is not
    /// doubted.
    private mutating func isTrue(_ condition: Condition, inside depth: Int) -> Bool {
        guard depth < Self.depthLimit else {
            doubt("'or' and 'and' are nested more than \(Self.depthLimit - 1) deep")
            return false
        }
        switch condition {
        case .or(let parts):
            for part in parts where isTrue(part, inside: depth + 1) { return true }
            return false
        case .and(let parts):
            for part in parts where !isTrue(part, inside: depth + 1) { return false }
            return true
        case .constant(let value):
            return value
        case .percent(let percent):
            guard !context.randomizationID.isEmpty else {
                doubt("no randomization id is known")
                return false
            }
            let place = percent.place(of: context.randomizationID, digest: tools.digest)
            return percent.part.holds(place)
        case .customSignal(let test):
            // A signal that the host does not have fails every test, 'not equal' included.
            guard let signal = context.signals[ExactString(test.key)] else { return false }
            do throws(Doubt) {
                return try test.comparison.holds(for: signal, search: tools.search)
            } catch {
                doubt("signal \(quoted(test.key)): \(error.cause)")
                return false
            }
        case .unreadable(let cause):
            doubt(cause)
            return false
        }
    }

    private mutating func doubt(_ cause: String) {
        doubts.append("condition \(quoted(name)) counts as false: \(cause)")
    }
}
