import CivilTime
import JSON

/// The format `switch`, the project's own: a state, an end, windows, a minimum version.
enum SwitchObject {
    /// Claims the state first, then the end, the windows and the minimum version. Throws the first
    /// flag that it cannot read.
    static func read(_ object: JSON.Object) throws(InvalidFlag) -> Reading {
        let end = try object.optionalTime("ends_at")
        var claims = [try claim(object.string("state"), endingAt: end)]
        if let end, claims != [.countdown(.at(end))], claims != [.ended] {
            claims.append(.countdown(.at(end)))
        }
        for window in try windows(object) { claims.append(.window(window)) }
        if let text = try object.optionalString("minimum_version") {
            guard let version = Version(text) else {
                throw .unknownWord(key: "minimum_version", word: text, expected: "a version")
            }
            claims.append(.minimumVersion(version))
        }
        return Reading(
            claims: claims, title: try object.optionalString("title"),
            message: try object.optionalString("message"),
            retryAfter: try object.optionalSeconds("retry_after").map(clampedRetry),
            version: try object.optionalInteger("version"),
            expires: try object.optionalTime("expires"))
    }

    /// The claim of a state's word. `undecided` is an error: only the daemon can be undecided.
    private static func claim(_ word: String, endingAt end: Instant?) throws(InvalidFlag) -> Claim {
        switch State(rawValue: word) {
        case .running: return .running
        case .countdown: return .countdown(end.map(End.at) ?? .untold)
        case .maintenance: return .maintenance
        case .updateRequired: return .updateRequired
        case .ended: return .ended
        case .undecided, nil:
            throw .unknownWord(key: "state", word: word, expected: "the word of a state")
        }
    }

    private static func windows(_ object: JSON.Object) throws(InvalidFlag) -> [Window] {
        switch object["windows"] {
        case nil, .null: return []
        case .array(let elements):
            var windows: [Window] = []
            for (index, element) in elements.enumerated() {
                windows.append(try window(element, named: "windows[\(index)]"))
            }
            return windows
        case .some(let other):
            throw .wrongType(key: "windows", expected: "an array or null", found: other.typeName)
        }
    }

    private static func window(_ value: JSON.Value, named name: String) throws(InvalidFlag)
        -> Window
    {
        guard case .object(let object) = value else {
            throw .wrongType(key: name, expected: "an object", found: value.typeName)
        }
        let from = try object.time("from", shownAs: "\(name).from")
        let until = try object.time("until", shownAs: "\(name).until")
        guard from < until else {
            throw .wrongType(
                key: "\(name).until", expected: "a time after 'from'", found: "one before it")
        }
        return Window(
            from: from, until: until, title: try object.optionalString("title"),
            message: try object.optionalString("message"))
    }
}

extension JSON.Object {
    /// A whole number that may be left out or null.
    fileprivate func optionalInteger(_ key: String) throws(InvalidFlag) -> Int64? {
        switch self[key] {
        case nil, .null: return nil
        case .number(let number):
            guard let integer = number.int64 else {
                throw .wrongType(
                    key: key, expected: "a whole number",
                    found: "the number \(quoted(number.literal))")
            }
            return integer
        case .some(let other):
            throw .wrongType(key: key, expected: "a whole number", found: other.typeName)
        }
    }

    /// An RFC 3339 time that may be left out or null.
    fileprivate func optionalTime(_ key: String) throws(InvalidFlag) -> Instant? {
        switch self[key] {
        case nil, .null: nil
        case .some: try time(key, shownAs: key)
        }
    }

    /// An RFC 3339 time. An error names the key `shown`.
    fileprivate func time(_ key: String, shownAs shown: String) throws(InvalidFlag) -> Instant {
        guard let value = self[key] else { throw .missing(key: shown) }
        guard case .string(let text) = value else {
            throw .wrongType(key: shown, expected: "an RFC 3339 time", found: value.typeName)
        }
        do {
            return try Instant(rfc3339: text)
        } catch {
            throw .unknownWord(key: shown, word: text, expected: "an RFC 3339 time")
        }
    }
}
