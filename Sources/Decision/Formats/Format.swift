package import CivilTime
package import JSON

/// The rule by which flags become a state, with the keys that it reads.
package enum Format: Hashable, Sendable {
    /// Strings. The first of `endKeys` that the flags hold is read.
    case serviceEnd(endKeys: [String], countdownKey: String)
    /// One Boolean, under any key.
    case boolean(BooleanFlag)
    /// `apiInactive`, `forceUpdate`, `retryInterval`, `userMessage`.
    case status(Place)
    /// `isUnderMaintenance`, `title`, `message`.
    case maintenance(Place)
    /// The project's own format: `state`, an end, windows, a minimum version.
    case switchObject(Place)
}

/// Where in a source's flags a format finds its object.
package enum Place: Hashable, Sendable {
    /// The flags themselves are the object.
    case whole
    /// The member of this name is the object, or a string that holds it as JSON.
    case member(String)
    /// The member of this name if it exists, else the flags themselves.
    case memberOrWhole(String)
}

extension Format {
    /// The reading of `flags` by this format. A date without an offset is read in `zone`. The keys `known` are no
    /// misspellings of others, because somebody reads them.
    package func read(
        _ flags: JSON.Object, in zone: Zone, known: Set<ExactString> = []
    ) throws(InvalidFlag) -> Reading {
        switch self {
        case .serviceEnd(let endKeys, let countdownKey):
            try ServiceEnd.read(
                flags, endKeys: endKeys, countdownKey: countdownKey, zone: zone, known: known)
        case .boolean(let flag): try flag.read(flags)
        case .status(let place):
            try Status.read(Members(of: flags, at: place, mark: .apiInactive, known))
        case .maintenance(let place):
            try Maintenance.read(Members(of: flags, at: place, mark: .isUnderMaintenance, known))
        case .switchObject(let place):
            try SwitchObject.read(Members(of: flags, at: place, mark: .state, known))
        }
    }

    /// The format's word in the configuration.
    package var word: String {
        switch self {
        case .serviceEnd: "service-end"
        case .boolean: "boolean"
        case .status: "status"
        case .maintenance: "maintenance"
        case .switchObject: "switch"
        }
    }

    /// The subset of `flags` that this format reads, unchanged.
    package func relevant(in flags: JSON.Object) -> JSON.Object {
        JSON.Object(keys(in: flags).compactMap { key in flags[key].map { (key, $0) } })
    }

    /// Every key that this format may read, whatever the flags hold.
    var keys: [String] { keys(in: JSON.Object()) }

    /// The keys on which its reading of `flags` depends.
    func keys(readIn flags: JSON.Object) -> [String] {
        var keys = keys(in: flags)
        if case .serviceEnd(_, let countdownKey) = self {
            keys.removeLast()
            if keys.last.flatMap({ flags[$0]?.string }) == "countdown" { keys.append(countdownKey) }
        }
        if case .switchObject(.whole) = self {
            let isWord = flags[SwitchObject.Key.state.rawValue] == nil
            return isWord && flags[FlagDocument.wholeKey] != nil
                ? [FlagDocument.wholeKey] : Self.switchKeys
        }
        return keys
    }

    /// The keys on which its reading depends of flags that have the same members as these, whatever the values.
    private func keys(in flags: JSON.Object) -> [String] {
        switch self {
        case .serviceEnd(let endKeys, let countdownKey):
            let place = endKeys.firstIndex { flags[$0] != nil } ?? endKeys.endIndex
            return endKeys.prefix(place + 1) + [countdownKey]
        case .boolean(let flag): return [flag.key]
        case .status(let place), .maintenance(let place): return place.keys(members, in: flags)
        case .switchObject(.whole): return Self.wholeSwitchKeys
        case .switchObject(let place): return place.keys(members, in: flags)
        }
    }

    /// The members of its object; empty for a format without one.
    var members: [String] {
        switch self {
        case .serviceEnd, .boolean: []
        case .status: Self.statusKeys
        case .maintenance: Self.maintenanceKeys
        case .switchObject: Self.switchKeys
        }
    }

    /// A state word alone may stand in place of them.
    private static let wholeSwitchKeys = switchKeys + [FlagDocument.wholeKey]
    private static let statusKeys = Status.Key.words
    private static let maintenanceKeys = Maintenance.Key.words
    private static let switchKeys = SwitchObject.Key.words
}

extension Place {
    /// The keys on which the object depends; its own are `members`.
    fileprivate func keys(_ members: [String], in flags: JSON.Object) -> [String] {
        switch self {
        case .whole: members
        case .member(let key): [key]
        case .memberOrWhole(let key): flags[key] == nil ? [key] + members : [key]
        }
    }
}

/// The format `service-end`: a word lets a service run, count down or end; a date tells the end.
enum ServiceEnd {
    /// `"no"` runs and `"countdown"` counts down. *Every* other text ends the service, the empty
    /// text included, because the applications that share these flags read them like this.
    static func read(
        _ flags: JSON.Object, endKeys: [String], countdownKey: String, zone: Zone,
        known: Set<ExactString>
    ) throws(InvalidFlag) -> Reading {
        let key = endKeys.first { flags[$0] != nil } ?? endKeys.first ?? "service_end"
        let word = try Flag(key, of: flags).string()
        if word.isSame(as: "no") { return Reading(claims: [.running]) }
        guard word.isSame(as: "countdown") else { return Reading(claims: [.ended]) }
        let date = Flag(countdownKey, of: flags)
        var leniency = Leniency()
        let end = end(date, in: zone, &leniency)
        if date.optional == nil {
            leniency.suspect(Misspelling.all(in: flags, of: endKeys + [countdownKey], known))
        }
        return Reading(claims: [.countdown(end)], leniencies: leniency.clauses)
    }

    /// The end that a flag tells. Without a date that can be read the countdown has unknown days, as the applications
    /// have it that share these flags.
    private static func end(_ date: Flag, in zone: Zone, _ leniency: inout Leniency) -> End {
        guard let value = date.optional else {
            leniency.forgive(date, "key \(quoted(date.key)) is missing; the days left are unknown")
            return .unlogged
        }
        guard let text = value.string else { return .unreadable(value.serialized().shortened) }
        do {
            let end = try zone.instants(from: text)
            if end.lowerBound.isDate {
                return end.lowerBound == end.upperBound ? .at(end.lowerBound) : .within(end)
            }
            leniency.forgive(
                date,
                "key \(quoted(date.key)) is a time before 2000, which is no date; it counts as absent"
            )
            return .unlogged
        } catch {
            return .unreadable(text.shortened)
        }
    }
}

/// The format `status`: whether an API is inactive, whether an update is required, when to poll.
enum Status {
    enum Key: String, FormatKey {
        case apiInactive, forceUpdate, retryInterval, userMessage

        static let words = allCases.map(\.rawValue)
    }

    /// Claims an update before maintenance. Throws the first flag that it cannot read.
    static func read(_ object: Members<Key>) throws(InvalidFlag) -> Reading {
        let isInactive = try object[.apiInactive].boolean()
        let needsUpdate = try object[.forceUpdate].boolean()
        var claims: [Claim] = needsUpdate ? [.updateRequired] : []
        if isInactive { claims.append(.maintenance) }
        var leniency = Leniency()
        leniency.suspect(object.misspellings)
        return Reading(
            claims: claims.isEmpty ? [.running] : claims,
            texts: Texts(message: leniency.text(object[.userMessage], .message)),
            retryAfter: leniency.wait(object[.retryInterval]), leniencies: leniency.clauses)
    }
}

/// The format `maintenance`: whether the service is under maintenance, with texts for its users.
enum Maintenance {
    enum Key: String, FormatKey {
        case isUnderMaintenance, title, message

        static let words = allCases.map(\.rawValue)
    }

    /// The texts count during maintenance alone: they are often prepared long before.
    static func read(_ object: Members<Key>) throws(InvalidFlag) -> Reading {
        let isUnderMaintenance = try object[.isUnderMaintenance].boolean()
        var leniency = Leniency()
        leniency.suspect(object.misspellings)
        let texts = Texts(
            title: leniency.text(object[.title], .title),
            message: leniency.text(object[.message], .message))
        return Reading(
            claims: [isUnderMaintenance ? .maintenance : .running],
            texts: isUnderMaintenance ? texts : Texts(), leniencies: leniency.clauses)
    }
}

/// The keys of a format's object: every key that the format reads, since `Members` reads no other.
protocol FormatKey: RawRepresentable, CaseIterable, Sendable where RawValue == String {
    static var word: String? { get }
    /// The spellings of all keys, made once.
    static var words: [String] { get }
}

extension FormatKey {
    /// The member that a state word alone stands for; nil where no word is read.
    static var word: String? { nil }
}

/// An object by the keys that its format has declared. The comparison of two answers uses the same declaration: a key
/// that was read and not declared would make a change of it a repeat.
struct Members<Key: FormatKey> {
    private let object: JSON.Object
    /// The keys beside it that somebody reads.
    private let known: Set<ExactString>

    /// The object at a place in the flags. If it may stand in two, the member `mark` tells that the flags are it.
    /// Somebody reads the keys `known` of the flags.
    init(
        of flags: JSON.Object, at place: Place, mark: Key, _ known: Set<ExactString>
    ) throws(InvalidFlag) {
        switch place {
        case .whole where Key.word != nil && flags[mark.rawValue] == nil:
            let word = Flag(FlagDocument.wholeKey, of: flags)
            (object, self.known) = (
                word.optional == nil ? flags : try word.object(ofWord: Key.word), known
            )
        case .whole: (object, self.known) = (flags, known)
        case .memberOrWhole(let key) where flags[key] == nil && flags[mark.rawValue] != nil:
            (object, self.known) = (flags, known)
        case .member(let key), .memberOrWhole(let key):
            (object, self.known) = (try Flag(key, of: flags).object(ofWord: Key.word), [])
        }
    }

    /// Its members that look like a known one that is absent.
    var misspellings: [Misspelling] { Misspelling.all(in: object, of: Key.words, known) }

    subscript(key: Key) -> Flag { Flag(key.rawValue, of: object) }
}
