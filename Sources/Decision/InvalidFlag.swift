/// Why a format could not read its flags. Such an answer is not an order: the last good flags stay.
package enum InvalidFlag: Error, Hashable, Sendable {
    case missing(key: String)
    case wrongType(key: String, expected: String, found: String)
    case unknownWord(key: String, word: String, expected: String)
    case notJSON(key: String, cause: String)
    /// The whole answer is none: empty, a web page, broken JSON. The clause says which.
    case notFlags(String)
}

extension InvalidFlag: CustomStringConvertible {
    package var description: String {
        switch self {
        case .missing(let key):
            "key \(quoted(key)) is missing"
        case .wrongType(let key, let expected, let found):
            "key \(quoted(key)) is \(found), not \(expected)"
        case .unknownWord(let key, let word, let expected):
            "key \(quoted(key)) is \(quoted(word)), not \(expected)"
        case .notJSON(let key, let cause):
            "key \(quoted(key)) holds no valid JSON: \(cause)"
        case .notFlags(let clause):
            clause
        }
    }
}

/// Foreign text as it may stand in a message: in single quotes, short, without control characters.
package func quoted(_ text: String) -> String {
    var shown = ""
    for scalar in text.unicodeScalars.prefix(60) {
        let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
        shown.unicodeScalars.append(isControl ? "\u{FFFD}" : scalar)
    }
    let isWhole = text.unicodeScalars.count <= 60
    return "'\(shown)\(isWhole ? "" : "…")'"
}
