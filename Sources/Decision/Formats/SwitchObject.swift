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

    /// Claims the state first, then the end, the windows and the minimum version. Throws the first
    /// flag that it cannot read.
    static func read(_ object: Members<Key>) throws(InvalidFlag) -> Reading {
        let end = try object.optionalTime(.endsAt)
        var claims = [try claim(object.string(.state), endingAt: end)]
        if let end, claims != [.countdown(.at(end))], claims != [.ended] {
            claims.append(.countdown(.at(end)))
        }
        claims += try windows(object).map(Claim.window)
        if let text = try object.optionalString(.minimumVersion) {
            try FlagLimit.version.check(text.utf8.count, of: "minimum_version")
            guard let version = Version(text) else {
                throw .unknownWord(key: "minimum_version", word: text, expected: "a version")
            }
            claims.append(.minimumVersion(version))
        }
        let drains = try object.optional(.drain) == nil ? true : object.boolean(.drain)
        // It counts in a signed document alone (`SignedMetadata`), and has to be a time everywhere.
        _ = try object.optionalTime(.issued)
        return Reading(
            claims: claims,
            texts: Texts(
                title: try object.optionalText(.title, .title),
                message: try object.optionalText(.message, .message)),
            retryAfter: try object.optionalWait(.retryAfter),
            version: try object.optionalInteger(.version),
            expires: try object.optionalTime(.expires), isUrgent: !drains,
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
        guard let value = object.optional(.windows) else { return [] }
        let elements = try value.typed(\.array, "an array or null", of: "windows")
        try FlagLimit.windows.check(elements.count, of: "windows")
        return try elements.enumerated().map { (index, element) throws(InvalidFlag) in
            try window(element, named: "windows[\(index)]")
        }
    }

    private static func window(
        _ value: JSON.Value, named name: String
    ) throws(InvalidFlag) -> Window {
        let object = try value.typed(\.object, "an object", of: name)
        let from = try object.time("from", shownAs: "\(name).from")
        let until = try object.time("until", shownAs: "\(name).until")
        guard from < until else {
            throw .unreadable(key: "\(name).until", cause: "must be later than 'from'")
        }
        return Window(
            from: from, until: until,
            texts: Texts(
                title: try object.optionalText("title", shownAs: "\(name).title", .title),
                message: try object.optionalText("message", shownAs: "\(name).message", .message)))
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
