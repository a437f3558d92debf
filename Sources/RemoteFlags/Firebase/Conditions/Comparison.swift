import Decision

extension SignalTest.Comparison {
    /// Whether the signal passes.
    func holds(
        for signal: SignalValue, search: (_ pattern: String, _ text: String) -> SearchResult
    ) throws(Doubt) -> Bool {
        switch self {
        case .containsAny(let targets):
            return targets.contains(where: try signal.asText().contains(exactly:))
        case .containsNone(let targets):
            return !targets.contains(where: try signal.asText().contains(exactly:))
        case .equalsAny(let targets):
            let text = try signal.asText()
            let verdicts = targets.map(text.equalsTrimmed)
            if verdicts.contains(true) { return true }
            guard !verdicts.contains(nil) else { throw Doubt(disagreedOn: "what a blank is") }
            return false
        case .matchesAny(let patterns):
            let text = try signal.asText()
            for pattern in patterns {
                switch search(pattern, text) {
                case .found: return true
                case .notFound: continue
                case .refused(let cause):
                    throw Doubt("regular expression \(quoted(pattern)): \(cause)")
                }
            }
            return false
        case .number(let relation, let target):
            return relation.holds(try signal.asNumber(), try Double(agreedOn: target))
        case .version(let relation, let target):
            return relation.holds(
                try VersionNumber(try signal.asText()), try VersionNumber(target))
        }
    }
}

extension String {
    /// Whether two texts are the same but for blanks at their ends; nil where it depends on what is
    /// a blank to the one official client alone.
    fileprivate func equalsTrimmed(_ other: String) -> Bool? {
        let verdicts = [Blanks.python, .script].map { blanks in
            blanks.trim(self).elementsEqual(blanks.trim(other))
        }
        return verdicts[0] == verdicts[1] ? verdicts[0] : nil
    }
}

/// The characters that count as blanks at the end of a text.
enum Blanks {
    /// By `str.strip` of Python.
    case python
    /// By `String.prototype.trim` of ECMAScript.
    case script
    /// By both.
    case both

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
