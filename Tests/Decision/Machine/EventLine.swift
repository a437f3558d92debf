import CivilTime
import Configuration
import Decision
import Support

/// The words of an event in a transcript, read from left to right.
struct EventLine {
    private var rest: Substring

    init(_ text: String) { rest = text[...] }

    var isAtEnd: Bool { rest.isEmpty }

    /// The rest of the line.
    mutating func all() throws -> String {
        if rest.isEmpty { throw TestFailure("words are missing at the end") }
        defer { rest = "" }
        return String(rest)
    }

    /// The next word.
    mutating func word() throws -> String {
        let word = rest.prefix { $0 != " " && $0 != ":" }
        if word.isEmpty { throw TestFailure("a word is missing before '\(rest)'") }
        drop(word.count)
        return String(word)
    }

    /// Whether these words come next.
    func isBefore(_ words: String) -> Bool {
        let next = rest.dropFirst(words.count).first ?? " "
        return rest.hasPrefix(words) && (next == " " || next == ":")
    }

    /// Whether these words come next; then they are read.
    mutating func reads(_ words: String) -> Bool {
        guard isBefore(words) else { return false }
        drop(words.count)
        return true
    }

    private mutating func drop(_ count: Int) {
        rest = rest.dropFirst(count)
        if rest.first == " " { rest = rest.dropFirst() }
    }

    /// The rest of the line after a colon.
    mutating func clause() throws -> String {
        guard rest.hasPrefix(": ") else { throw TestFailure("no colon before '\(rest)'") }
        rest = rest.dropFirst(2)
        return try all()
    }

    mutating func name<Thing>() throws -> Name<Thing> { try named(try word()) }

    /// The name of an operator after `by`: up to `end`, which is read too, or the rest of the line.
    mutating func author(upTo end: String? = nil) throws -> String {
        guard reads("by") else { throw TestFailure("no author before '\(rest)'") }
        guard let end, let range = rest.firstRange(of: " \(end) ") else { return try all() }
        defer { rest = rest[range.upperBound...] }
        return String(rest[..<range.lowerBound])
    }

    /// The rest of the line; nil at its end.
    mutating func allIfAny() throws -> String? { rest.isEmpty ? nil : try all() }

    mutating func duration() throws -> Duration {
        let text = String(rest.prefix { $0 != " " && $0 != ":" })
        guard let duration = Duration(text: text.filter { $0 != "+" && $0 != "-" }) else {
            throw TestFailure("'\(text)' is no duration")
        }
        drop(text.count)
        return text.hasPrefix("-") ? .zero - duration : duration
    }

    /// A time of the day of `now` in UTC, or a whole time.
    mutating func time(on now: Instant) throws -> Instant {
        let text = rest.prefix { $0 != " " }
        drop(text.count)
        if text.contains("T") { return try Instant(rfc3339: String(text)) }
        return try Instant(rfc3339: "\(Zone.utc.rfc3339(now).prefix(11))\(text)Z")
    }

    /// The text of a JSON object.
    mutating func object() throws -> String {
        var (depth, isInString, isEscaped) = (0, false, false)
        for (count, character) in rest.enumerated() {
            if isInString {
                if !isEscaped, character == "\"" { isInString = false }
                isEscaped = character == "\\" && !isEscaped
                continue
            }
            switch character {
            case "\"": isInString = true
            case "{": depth += 1
            case "}": depth -= 1
            default: break
            }
            if depth == 0 {
                defer { drop(count + 1) }
                return String(rest.prefix(count + 1))
            }
        }
        throw TestFailure("no end of the object '\(rest)'")
    }

    func refuseMore() throws {
        if !rest.isEmpty { throw TestFailure("unknown words '\(rest)'") }
    }
}
