import JSON

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

/// Text from outside, for a message: in single quotes, printable, cut to 60 characters.
package func quoted(_ text: String) -> String {
    "'\(text.printable(limit: 60))'"
}
