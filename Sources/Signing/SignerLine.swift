import CivilTime
import JSON

/// A line of a file of allowed signers: names, options, the type of a key, the key, a comment.
struct SignerLine: Hashable {
    /// At least one, each without characters of patterns.
    let principals: [String]
    /// The one name of the person, whichever of the person's names or keys the line has.
    var person: String
    let key: SSHKey
    /// Whether the line allows signatures for our namespace.
    let isForUs: Bool
    let validity: Validity

    /// When the key of a line counts, both ends included, by whole seconds as ssh-keygen(1) has them.
    struct Validity: Hashable {
        var after: Instant?
        var before: Instant?

        func begins(after now: Instant) -> Bool { after.map { now.seconds < $0.seconds } ?? false }

        func contains(_ now: Instant) -> Bool {
            !begins(after: now) && before.map { now.seconds <= $0.seconds } ?? true
        }
    }

    /// Reads a line; nil for a blank line or a comment.
    init?(_ line: ArraySlice<UInt8>, zone: Zone) throws(FormatProblem) {
        guard let text = String(validating: line, as: UTF8.self) else {
            throw FormatProblem("it is not UTF-8")
        }
        var words = SignerWords(text)
        guard let names = try words.next(), !names.utf8.starts(with: "#".utf8) else { return nil }
        principals = try Self.principals(names)
        person = principals.first ?? ""
        guard var word = try words.next() else { throw FormatProblem("the key is missing") }
        var options = (isForUs: true, validity: Validity())
        // A key type has none of these characters, and an option with a value has one.
        // `cert-authority` is the only option without a value.
        if word.utf8.contains(where: { "=,\"".utf8.contains($0) }) || word == "cert-authority" {
            options = try Self.options(word, zone)
            guard let type = try words.next() else { throw FormatProblem("the key is missing") }
            word = type
        }
        guard let kind = SSHKey.Kind(rawValue: word) else {
            throw FormatProblem(
                "'\(word.excerpt)' is not an accepted type of key; accepted: \(SSHKey.Kind.list)")
        }
        key = try Self.key(kind, try words.next())
        (isForUs, validity) = options
    }

    private static func principals(_ word: String) throws(FormatProblem) -> [String] {
        let unquoted = word.unquoted ?? word
        // By bytes, as ssh-keygen(1) does: with a combining mark after it, a comma is no character of its own.
        let names = unquoted.utf8.split(
            separator: UInt8(ascii: ","), omittingEmptySubsequences: false
        ).map { String(Substring($0)) }
        for name in names {
            guard !name.isEmpty else { throw FormatProblem("a name is empty") }
            guard !name.utf8.contains(where: { "*?!".utf8.contains($0) }) else {
                throw FormatProblem("'\(name.excerpt)' is a pattern, and an author needs a name")
            }
            guard name.unicodeScalars.allSatisfy(\.isPrintable), name.utf8.count <= 255 else {
                throw FormatProblem(
                    "a name has other than visible characters, or more than 255 bytes")
            }
        }
        return names
    }

    private static func key(_ kind: SSHKey.Kind, _ text: String?) throws(FormatProblem) -> SSHKey {
        guard let text else { throw FormatProblem("the key is missing") }
        guard let bytes = Base64.bytes(of: text) else {
            throw FormatProblem("the key is not base64")
        }
        let key = try SSHKey(bytes)
        guard key.kind == kind else {
            throw FormatProblem("the key is of the type '\(key.kind.rawValue)'")
        }
        return key
    }

    /// Reads the options, whose values are always quoted.
    private static func options(
        _ text: String, _ zone: Zone
    ) throws(FormatProblem) -> (isForUs: Bool, validity: Validity) {
        var (isForUs, validity) = (true, Validity())
        var seen: Set<String> = []
        for option in try text.quotedParts(separator: ",") {
            let parts = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            // ssh-keygen compares names of options without case.
            let name = parts[0].lowercased()
            guard seen.insert(name).inserted else {
                throw FormatProblem("the option '\(name.excerpt)' stands twice")
            }
            switch name {
            case "namespaces":
                isForUs = SignedDocument.namespace.isMatched(byPatterns: try value(parts, of: name))
            case "valid-after": validity.after = try time(parts, of: name, zone)
            case "valid-before": validity.before = try time(parts, of: name, zone)
            default: throw FormatProblem("the option '\(name.excerpt)' is not supported")
            }
        }
        if let after = validity.after, let before = validity.before, before <= after {
            throw FormatProblem("'valid-before' is not later than 'valid-after'")
        }
        return (isForUs, validity)
    }

    private static func value(
        _ parts: [Substring], of name: String
    ) throws(FormatProblem) -> String {
        guard parts.count == 2, let value = String(parts[1]).unquoted, !value.isEmpty else {
            throw FormatProblem("the option '\(name)' needs a value in double quotes")
        }
        return value
    }

    /// A time such as `20270331`, `202703312359`, `20270331235959`; local, or UTC with a `Z`.
    private static func time(
        _ parts: [Substring], of name: String, _ zone: Zone
    ) throws(FormatProblem) -> Instant {
        let value = try value(parts, of: name)
        let wrong = FormatProblem(
            "'\(value.excerpt)' of '\(name)' is not a time such as 20270331 or 20270331235959Z")
        let digits = Array(
            value.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        let suffix = String(value.dropFirst(digits.count))
        guard [8, 12, 14].contains(digits.count), ["", "Z", "z"].contains(suffix) else {
            throw wrong
        }
        func part(_ range: Range<Int>) -> String {
            range.upperBound <= digits.count ? String(decoding: digits[range], as: UTF8.self) : "00"
        }
        guard zone.isKnown || !suffix.isEmpty else {
            throw FormatProblem(
                "'\(value.excerpt)' of '\(name)' is a local time, and the time zone of the system cannot "
                    + "be read; write it in UTC, with a Z")
        }
        let date = "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))"
        let clock = "\(part(8..<10)):\(part(10..<12)):\(part(12..<14))"
        do {
            return try zone.instant(from: "\(date)T\(clock)\(suffix)")
        } catch {
            throw wrong
        }
    }
}

extension String {
    /// Whether a pattern with `*` and `?` matches, and none with `!` in front (ssh_config(5), PATTERNS).
    fileprivate func isMatched(byPatterns list: String) -> Bool {
        let patterns = list.utf8.split(separator: UInt8(ascii: ","))
        let name = Array(utf8)
        let exception = UInt8(ascii: "!")
        return !patterns.contains { $0.first == exception && matches($0.dropFirst(), name) }
            && patterns.contains { $0.first != exception && matches($0, name) }
    }
}

/// Whether a pattern matches a name. Goes through both once and returns only to the last `*`: a list with many stars
/// costs no more than the product of the lengths.
private func matches(_ pattern: Substring.UTF8View, _ name: [UInt8]) -> Bool {
    let pattern = Array(pattern)
    var (place, letter) = (0, 0)
    var star: (place: Int, letter: Int)?
    while letter < name.count {
        let next = place < pattern.count ? pattern[place] : nil
        if next == UInt8(ascii: "*") {
            star = (place, letter)
            place += 1
        } else if next == UInt8(ascii: "?") || next == name[letter] {
            place += 1
            letter += 1
        } else if let last = star {
            star = (last.place, last.letter + 1)
            (place, letter) = (last.place + 1, last.letter + 1)
        } else {
            return false
        }
    }
    return pattern[place...].allSatisfy { $0 == UInt8(ascii: "*") }
}
