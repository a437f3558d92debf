import CivilTime
import JSON

/// The format `switch`, the project's own: a state, an end, windows, a minimum version, a rollout.
enum SwitchObject {
    enum Key: String, FormatKey {
        case state
        case endsAt = "ends_at"
        case windows
        case minimumVersion = "minimum_version"
        case version
        case expires
        case issued
        case title
        case message
        case retryAfter = "retry_after"
        case rollout
        case seed
        case drain
    }

    /// Claims the state first, then the end, the windows and the minimum version. Throws the first unreadable flag.
    static func read(_ object: Members<Key>) throws(InvalidFlag) -> Reading {
        let end = try object[.endsAt].optionalTime()
        var claims = [try claim(object[.state].string(), endingAt: end)]
        if let end, claims != [.countdown(.at(end))], claims != [.ended] {
            claims.append(.countdown(.at(end)))
        }
        claims += try windows(object).map(Claim.window)
        if let text = try object[.minimumVersion].optionalString() {
            try FlagLimit.version.check(text.utf8.count, of: "minimum_version")
            guard let version = Version(text) else {
                throw .unknownWord(key: "minimum_version", word: text, expected: "a version")
            }
            claims.append(.minimumVersion(version))
        }
        let drains = try object[.drain].optional == nil ? true : object[.drain].boolean()
        // It counts in a signed document alone (`SignedMetadata`), and has to be a time everywhere.
        _ = try object[.issued].optionalTime()
        return Reading(
            claims: claims,
            texts: Texts(
                title: try object[.title].optionalText(.title),
                message: try object[.message].optionalText(.message)),
            retryAfter: try object[.retryAfter].optionalWait(),
            version: try object[.version].optionalInteger(),
            expires: try object[.expires].optionalTime(), isUrgent: !drains,
            rollout: try Rollout(object))
    }

    /// The claim of a state's word. `undecided` is an error: only the daemon can be undecided.
    private static func claim(_ word: String, endingAt end: Instant?) throws(InvalidFlag) -> Claim {
        switch State(rawValue: word) {
        case .running: return .running
        case .countdown: return .countdown(end.map(End.at) ?? .unlogged)
        case .maintenance: return .maintenance
        case .updateRequired: return .updateRequired
        case .ended: return .ended
        case .undecided, nil:
            throw .unknownWord(
                key: "state", word: word.shortened,
                expected: "a state; the states are running, countdown, maintenance, "
                    + "update-required and ended")
        }
    }

    private static func windows(_ object: Members<Key>) throws(InvalidFlag) -> [Window] {
        guard let elements = try object[.windows].optionalArray() else { return [] }
        try FlagLimit.windows.check(elements.count, of: "windows")
        return try elements.enumerated().map { (index, element) throws(InvalidFlag) in
            try window(element, named: "windows[\(index)]")
        }
    }

    private static func window(
        _ value: JSON.Value, named name: String
    ) throws(InvalidFlag) -> Window {
        let object = try value.typed(\.object, "an object", of: name)
        let place = "\(name)."
        let from = try Flag("from", of: object, at: place).time()
        let until = Flag("until", of: object, at: place)
        let end = try until.time()
        guard from < end else {
            throw .unreadable(key: until.key, cause: "must be later than 'from'")
        }
        let title = try Flag("title", of: object, at: place).optionalText(.title)
        let message = try Flag("message", of: object, at: place).optionalText(.message)
        return Window(from: from, until: end, texts: Texts(title: title, message: message))
    }
}

/// The texts in flags for the people who use the service. The other formats have some of them.
package struct Texts: Hashable, Sendable {
    package var title: String?
    package var message: String?

    /// No text, or these.
    package init(title: String? = nil, message: String? = nil) {
        (self.title, self.message) = (title, message)
    }

    /// Takes each text that is missing here from `others`.
    mutating func fill(from others: Texts) {
        title = title ?? others.title
        message = message ?? others.message
    }
}
