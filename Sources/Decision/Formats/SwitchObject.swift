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

        static var word: String? { Key.state.rawValue }
        static let words = allCases.map(\.rawValue)
    }

    /// Claims the state first, then the end, the windows and the minimum version. Throws the first unreadable flag.
    /// Beside `ended` and `maintenance` an end, windows and a minimum version decorate, because nothing in them could
    /// keep the service open.
    static func read(_ object: Members<Key>) throws(InvalidFlag) -> Reading {
        var leniency = Leniency()
        let word = try object[.state].string()
        let isClosed = try [.ended, .maintenance].contains(claim(word, endingAt: nil))
        func decorates<Value>(
            _ key: Key, _ read: (Flag, inout Leniency) throws(InvalidFlag) -> Value?
        ) throws(InvalidFlag) -> Value? {
            let flag = object[key]
            guard isClosed else { return try read(flag, &leniency) }
            var inner = Leniency()
            let value = leniency.value(of: flag) { flag throws(InvalidFlag) in
                try read(flag, &inner)
            }
            leniency.add(inner)
            return value
        }
        let end: Instant? = try decorates(.endsAt) { flag, leniency throws(InvalidFlag) in
            try leniency.time(flag)
        }
        var claims = [try claim(word, endingAt: end)]
        if let end, claims != [.countdown(.at(end))], claims != [.ended] {
            claims.append(.countdown(.at(end)))
        }
        let windows: [Window]? = try decorates(.windows) { flag, leniency throws(InvalidFlag) in
            try Self.windows(flag, &leniency)
        }
        claims += (windows ?? []).map(Claim.window)
        let minimum: Version? = try decorates(.minimumVersion) { flag, _ throws(InvalidFlag) in
            try minimumVersion(flag)
        }
        if let minimum { claims.append(.minimumVersion(minimum)) }
        // It counts in a signed document alone (`SignedMetadata`), and has to be a time everywhere.
        _ = try leniency.time(object[.issued])
        leniency.suspect(object.misspellings)
        let texts = Texts(
            title: leniency.text(object[.title], .title),
            message: leniency.text(object[.message], .message))
        let (wait, drains) = (leniency.wait(object[.retryAfter]), leniency.drains(object[.drain]))
        return Reading(
            claims: claims, texts: texts, retryAfter: wait,
            version: try object[.version].optionalInteger(),
            expires: try leniency.time(object[.expires]), isUrgent: !drains,
            rollout: try Rollout(object), leniencies: leniency.clauses)
    }

    private static func minimumVersion(_ flag: Flag) throws(InvalidFlag) -> Version? {
        guard let text = try flag.optionalString() else { return nil }
        try FlagLimit.version.check(text.utf8.count, of: flag.key)
        guard let version = Version(text) else {
            throw .unknownWord(key: flag.key, word: text, expected: "a version")
        }
        return version
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
                key: "state", word: word.shortened, expected: State.expectedWords)
        }
    }

    private static func windows(
        _ flag: Flag, _ leniency: inout Leniency
    ) throws(InvalidFlag) -> [Window]? {
        guard let elements = try flag.optionalArray() else { return nil }
        try FlagLimit.windows.check(elements.count, of: flag.key)
        var windows: [Window] = []
        for (index, element) in elements.enumerated() {
            windows.append(try window(element, named: "\(flag.key)[\(index)]", &leniency))
        }
        return windows
    }

    private static func window(
        _ value: JSON.Value, named name: String, _ leniency: inout Leniency
    ) throws(InvalidFlag) -> Window {
        let object = try value.typed(\.object, "an object", of: name)
        let place = "\(name)."
        let from = try Flag("from", of: object, at: place).time()
        let until = Flag("until", of: object, at: place)
        let end = try until.time()
        guard from < end else {
            throw .unreadable(key: until.key, cause: "must be later than 'from'")
        }
        let title = leniency.text(Flag("title", of: object, at: place), .title)
        let message = leniency.text(Flag("message", of: object, at: place), .message)
        return Window(from: from, until: end, texts: Texts(title: title, message: message))
    }
}

extension State {
    /// Which words flags may hold: the end of an error.
    static let expectedWords =
        "a state; the states are running, countdown, maintenance, update-required and ended"
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
