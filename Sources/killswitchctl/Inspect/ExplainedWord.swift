import Decision
import JSON

/// A word that commands print, explained: a reason, or the kind of a finding.
struct ExplainedWord {
    private let word: String
    private let reason: Reason.Slug?
    private let finding: Finding.Kind?

    /// Nil for a word that is neither.
    init?(_ word: String) {
        self.word = word
        (reason, finding) = (Reason.Slug(rawValue: word), Finding.Kind(rawValue: word))
        if reason == nil, finding == nil { return nil }
    }

    static let words = Set(
        Reason.Slug.allCases.map(\.rawValue) + Finding.Kind.allCases.map(\.rawValue)
    ).sorted()

    var text: String {
        var lines = LabelledLines()
        if let reason { lines.add("reason \(word)", reason.meaning) }
        if let finding {
            lines.add("finding \(word)", finding.row.meaning)
            lines.add("  to do", finding.row.advice)
        }
        return lines.text
    }

    var json: JSON.Value {
        .object([
            "word": .string(word), "reason": .optional(reason?.meaning),
            "finding": .optional(finding?.row.meaning), "advice": .optional(finding?.row.advice),
        ])
    }
}
