/// Foreign text on one line of a terminal: what could move the cursor, turn the direction of writing
/// or begin a line is replaced, and a long text is cut.
func shown(_ text: String, limit: Int = 100) -> String {
    var line = ""
    for scalar in text.unicodeScalars.prefix(limit) {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator:
            line.unicodeScalars.append("\u{FFFD}")
        default:
            line.unicodeScalars.append(scalar)
        }
    }
    return text.unicodeScalars.count > limit ? line + "…" : line
}

/// Lines of a label and a text each, the texts one below the other.
struct LabelledLines {
    private var lines: [(label: String, text: String)] = []

    /// Adds a line; none where there is no text.
    mutating func add(_ label: String, _ text: String?) {
        guard let text else { return }
        lines.append((label, text))
    }

    var text: String {
        let width = lines.map(\.label.count).max() ?? 0
        return lines.map { label, text in
            label + String(repeating: " ", count: width - label.count + 2) + text
        }.joined(separator: "\n")
    }
}
