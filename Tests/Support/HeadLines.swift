/// The head of a transcript: lines of TOML, a key with a text, a whole number or a list of texts, and comments.
package struct HeadLines {
    private var values: [String: (texts: [String], line: Int)] = [:]

    /// Reads a head that may have these keys.
    package init(_ text: String, keys: Set<String>) throws {
        let pattern = /(\w+) = (?:"[^"]*"|(\d+)|\[(?:"[^"]*"(?:, "[^"]*")*)?\])/
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (number, line) in zip(1..., lines) where !line.isEmpty && !line.hasPrefix("#") {
            guard let parts = line.wholeMatch(of: pattern) else {
                throw Self.failure("'\(line)' is no key with a text, a number or texts", number)
            }
            guard keys.contains(String(parts.1)) else {
                throw Self.failure("there is no key '\(parts.1)'", number)
            }
            let texts = line.matches(of: /"([^"]*)"/).map { String($0.1) }
            values[String(parts.1)] = (parts.2.map { [String($0)] } ?? texts, number)
        }
    }

    /// What `read` makes of each text of a key: nil is an error. Empty without the key.
    package func values<Value>(_ key: String, _ read: (String) throws -> Value?) throws -> [Value] {
        guard let (texts, line) = values[key] else { return [] }
        return try texts.map { text in
            do {
                if let value = try read(text) { return value }
            } catch {
                throw Self.failure("\(error)", line)
            }
            throw Self.failure("'\(text)' is no value of '\(key)'", line)
        }
    }

    /// What `read` makes of the one text of a key; nil without the key.
    package func value<Value>(_ key: String, _ read: (String) throws -> Value?) throws -> Value? {
        try values(key, read).first
    }

    private static func failure(_ words: String, _ line: Int) -> TestFailure {
        TestFailure("line \(line): \(words)")
    }
}
