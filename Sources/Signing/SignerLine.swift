import CivilTime

/// A line of a file of allowed signers: names, options, the type of a key, the key, a comment.
struct SignerLine {
    /// At least one, each without characters of patterns.
    let principals: [String]
    let key: SSHKey
    let isForUs: Bool
    let validity: AllowedSigners.Validity

    /// Reads a line; nil for a blank line or a comment.
    init?(_ line: ArraySlice<UInt8>, zone: Zone) throws(SignerProblem) {
        guard let text = String(validating: line, as: UTF8.self) else {
            throw SignerProblem("it is not UTF-8")
        }
        var words = SignerWords(text)
        guard let names = try words.next(), !names.utf8.starts(with: "#".utf8) else { return nil }
        principals = try Self.principals(names)
        guard var word = try words.next() else { throw SignerProblem("the key is missing") }
        var options = SignerOptions()
        // A key type has none of these characters, and an option with a value has one.
        // `cert-authority` is the only option without a value.
        if word.utf8.contains(where: { "=,\"".utf8.contains($0) }) || word == "cert-authority" {
            options = try SignerOptions(word, zone: zone)
            guard let type = try words.next() else { throw SignerProblem("the key is missing") }
            word = type
        }
        guard let kind = SSHKey.Kind(rawValue: word) else {
            throw SignerProblem(
                "'\(word.excerpt)' is not an accepted type of key; accepted: \(SSHKey.Kind.list)")
        }
        key = try Self.key(kind, try words.next())
        isForUs = options.isForUs
        validity = options.validity
    }

    private static func principals(_ word: String) throws(SignerProblem) -> [String] {
        let unquoted = word.unquoted ?? word
        // By bytes, as ssh-keygen(1) does: with a combining mark after it, a comma is no character of its own.
        let names = unquoted.utf8.split(
            separator: UInt8(ascii: ","), omittingEmptySubsequences: false
        ).map(Substring.init)
        for name in names {
            guard !name.isEmpty else { throw SignerProblem("a name is empty") }
            guard !name.utf8.contains(where: { "*?!".utf8.contains($0) }) else {
                throw SignerProblem(
                    "'\(String(name).excerpt)' is a pattern, and an author needs a name")
            }
            guard name.unicodeScalars.allSatisfy(\.isVisible), name.utf8.count <= 255 else {
                throw SignerProblem(
                    "a name has other than visible characters, or more than 255 bytes")
            }
        }
        return names.map { String($0) }
    }

    private static func key(_ kind: SSHKey.Kind, _ text: String?) throws(SignerProblem) -> SSHKey {
        guard let text else { throw SignerProblem("the key is missing") }
        guard let bytes = Base64.bytes(of: text) else {
            throw SignerProblem("the key is not base64")
        }
        do throws(WireProblem) {
            let key = try SSHKey(bytes)
            guard key.kind == kind else {
                throw WireProblem("the key is of the type '\(key.kind.rawValue)'")
            }
            return key
        } catch {
            throw SignerProblem(error.clause)
        }
    }
}

/// Why a line is not accepted: a clause.
struct SignerProblem: Error, Hashable {
    let clause: String

    init(_ clause: String) { self.clause = clause }
}

/// The options of a line. The values are always quoted.
private struct SignerOptions {
    var isForUs = true
    var validity = AllowedSigners.Validity()

    /// A line without options.
    init() {}

    init(_ text: String, zone: Zone) throws(SignerProblem) {
        var seen: Set<String> = []
        for option in try text.quotedParts(separator: ",") {
            let parts = option.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            // ssh-keygen compares names of options without case.
            let name = parts[0].lowercased()
            guard seen.insert(name).inserted else {
                throw SignerProblem("the option '\(name.excerpt)' stands twice")
            }
            switch name {
            case "namespaces":
                isForUs = NamePatterns(try Self.value(parts, of: name))
                    .match(SSHSignature.namespace)
            case "valid-after": validity.after = try Self.time(parts, of: name, zone)
            case "valid-before": validity.before = try Self.time(parts, of: name, zone)
            default: throw SignerProblem("the option '\(name.excerpt)' is not supported")
            }
        }
        if let after = validity.after, let before = validity.before, before <= after {
            throw SignerProblem("'valid-before' is not later than 'valid-after'")
        }
    }

    private static func value(_ parts: [Substring], of name: String) throws(SignerProblem)
        -> String
    {
        guard parts.count == 2, let value = String(parts[1]).unquoted, !value.isEmpty else {
            throw SignerProblem("the option '\(name)' needs a value in double quotes")
        }
        return value
    }

    /// A time such as `20270331`, `202703312359`, `20270331235959`; local, or UTC with a `Z`.
    private static func time(_ parts: [Substring], of name: String, _ zone: Zone)
        throws(SignerProblem) -> Instant
    {
        let value = try value(parts, of: name)
        let wrong = SignerProblem(
            "'\(value.excerpt)' of '\(name)' is not a time such as 20270331 or 20270331235959Z")
        let digits = Array(
            value.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        let suffix = String(value.dropFirst(digits.count))
        guard [8, 12, 14].contains(digits.count), ["", "Z", "z"].contains(suffix) else {
            throw wrong
        }
        func part(_ range: Range<Int>) -> String {
            range.upperBound <= digits.count
                ? String(decoding: digits[range], as: UTF8.self) : "00"
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

/// A list of patterns with `*`, `?` and, for exceptions, `!` (ssh_config(5), PATTERNS).
private struct NamePatterns {
    private let patterns: [[UInt8]]

    init(_ text: String) {
        patterns = text.utf8.split(separator: UInt8(ascii: ",")).map { Array($0) }
    }

    /// Whether a pattern matches, and no exception does.
    func match(_ name: String) -> Bool {
        let name = Array(name.utf8)[...]
        let exception = UInt8(ascii: "!")
        return !patterns.contains {
            $0.first == exception && Self.matches($0.dropFirst(), name)
        } && patterns.contains { $0.first != exception && Self.matches($0[...], name) }
    }

    /// Goes through both once and returns only to the last `*`: a list with many stars costs no more than
    /// the product of the lengths.
    private static func matches(_ pattern: ArraySlice<UInt8>, _ name: ArraySlice<UInt8>) -> Bool {
        var (place, letter) = (pattern.startIndex, name.startIndex)
        var star: (place: Int, letter: Int)?
        while letter < name.endIndex {
            let next = place < pattern.endIndex ? pattern[place] : nil
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
}

extension Unicode.Scalar {
    /// Whether it is shown, and does nothing else to a terminal.
    fileprivate var isVisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned,
            .surrogate:
            false
        default: true
        }
    }
}
