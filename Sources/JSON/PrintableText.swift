/// Text from outside, made safe for a terminal or a line of a log: a server, an operator or a file of another program
/// may put anything into a title, a reason or a name. Everything that shows such text uses these functions.
extension String {
    /// The text on one line: a line break or a tab becomes a space, and every other unprintable character U+FFFD.
    package var printable: String { printable() }

    /// The text on one line: a line break or a tab becomes a space, and every other unprintable character `substitute`.
    /// A text of more than `limit` Unicode scalars is cut, and ends with an ellipsis.
    package func printable(
        limit: Int = .max, replacing substitute: Unicode.Scalar = "\u{FFFD}"
    ) -> String {
        // Most texts are ASCII, and safe as they are.
        if utf8.count <= limit, utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) { return self }
        var shown = ""
        var isAfterReturn = false
        for scalar in unicodeScalars.prefix(limit) {
            switch scalar {
            // Windows ends a line with both.
            case "\n" where isAfterReturn: break
            case "\n", "\r", "\t": shown.unicodeScalars.append(" ")
            default: shown.unicodeScalars.append(scalar.isPrintable ? scalar : substitute)
            }
            isAfterReturn = scalar == "\r"
        }
        let isWhole = limit == .max || unicodeScalars.count <= limit
        return isWhole ? shown : shown + "…"
    }

    /// The text on as many lines as it has: U+FFFD replaces every unprintable character but a line feed.
    package var printableLines: String {
        split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }
            .joined(separator: "\n")
    }
}

extension Unicode.Scalar {
    /// Whether a terminal shows the character and does nothing else: false for controls, invisible formatting such as
    /// bidirectional controls, separators of lines and paragraphs, and characters without an agreed meaning.
    package var isPrintable: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned,
            .surrogate:
            false
        default: true
        }
    }
}
