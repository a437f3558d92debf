package import CivilTime
package import JSON

/// The rule by which flags become a state, with the keys that it reads.
package enum Format: Hashable, Sendable {
    /// Strings. The first of `endKeys` that the flags hold is read.
    case serviceEnd(endKeys: [String], countdownKey: String)
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
    /// The reading of `flags` by this format. A date without an offset is read in `zone`.
    package func read(_ flags: JSON.Object, in zone: Zone) throws(InvalidFlag) -> Reading {
        switch self {
        case .serviceEnd(let endKeys, let countdownKey):
            try ServiceEnd.read(flags, endKeys: endKeys, countdownKey: countdownKey, zone: zone)
        case .status(let place): try Status.read(Members(of: flags, at: place, mark: .apiInactive))
        case .maintenance(let place):
            try Maintenance.read(Members(of: flags, at: place, mark: .isUnderMaintenance))
        case .switchObject(let place):
            try SwitchObject.read(Members(of: flags, at: place, mark: .state))
        }
    }

    /// The format's word in the configuration.
    package var word: String {
        switch self {
        case .serviceEnd: "service-end"
        case .status: "status"
        case .maintenance: "maintenance"
        case .switchObject: "switch"
        }
    }

    /// The subset of `flags` that this format reads, unchanged.
    package func relevant(in flags: JSON.Object) -> JSON.Object {
        JSON.Object(keys(in: flags).compactMap { key in flags[key].map { (key, $0) } })
    }

    /// Whether it reads the same keys with the same values in both flags.
    func findsSame(in left: JSON.Object, and right: JSON.Object) -> Bool {
        keys(in: right).allSatisfy { left[$0] == right[$0] }
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
        return keys
    }

    /// The keys on which its reading depends of flags that have the same members as these, whatever the values.
    private func keys(in flags: JSON.Object) -> [String] {
        switch self {
        case .serviceEnd(let endKeys, let countdownKey):
            let place = endKeys.firstIndex { flags[$0] != nil } ?? endKeys.endIndex
            return endKeys.prefix(place + 1) + [countdownKey]
        case .status(let place): return place.keys(Self.statusKeys, in: flags)
        case .maintenance(let place): return place.keys(Self.maintenanceKeys, in: flags)
        case .switchObject(let place): return place.keys(Self.switchKeys, in: flags)
        }
    }

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
        _ flags: JSON.Object, endKeys: [String], countdownKey: String, zone: Zone
    ) throws(InvalidFlag) -> Reading {
        let key = endKeys.first { flags[$0] != nil } ?? endKeys.first ?? "service_end"
        let word = try Flag(key, of: flags).string()
        if word.isSame(as: "no") { return Reading(claims: [.running]) }
        guard word.isSame(as: "countdown") else { return Reading(claims: [.ended]) }
        let date = try Flag(countdownKey, of: flags).string()
        return Reading(claims: [.countdown(end(date, in: zone))])
    }

    private static func end(_ text: String, in zone: Zone) -> End {
        do {
            return .at(try zone.instant(from: text))
        } catch {
            return .unreadable(text.shortened)
        }
    }
}

/// The format `status`: whether an API is inactive, whether an update is required, when to poll.
enum Status {
    enum Key: String, FormatKey {
        case apiInactive, forceUpdate, retryInterval, userMessage
    }

    /// Claims an update before maintenance. Throws the first flag that it cannot read.
    static func read(_ object: Members<Key>) throws(InvalidFlag) -> Reading {
        let isInactive = try object[.apiInactive].boolean()
        let needsUpdate = try object[.forceUpdate].boolean()
        var claims: [Claim] = needsUpdate ? [.updateRequired] : []
        if isInactive { claims.append(.maintenance) }
        return Reading(
            claims: claims.isEmpty ? [.running] : claims,
            texts: Texts(message: try object[.userMessage].optionalText(.message)),
            retryAfter: try object[.retryInterval].optionalWait())
    }
}

/// The format `maintenance`: whether the service is under maintenance, with texts for its users.
enum Maintenance {
    enum Key: String, FormatKey {
        case isUnderMaintenance, title, message
    }

    /// The texts count during maintenance alone: they are often prepared long before.
    static func read(_ object: Members<Key>) throws(InvalidFlag) -> Reading {
        let isUnderMaintenance = try object[.isUnderMaintenance].boolean()
        let texts = Texts(
            title: try object[.title].optionalText(.title),
            message: try object[.message].optionalText(.message))
        guard isUnderMaintenance else { return Reading(claims: [.running]) }
        return Reading(claims: [.maintenance], texts: texts)
    }
}

/// The keys of a format's object: every key that the format reads, since `Members` reads no other.
protocol FormatKey: RawRepresentable, CaseIterable, Sendable where RawValue == String {}

extension FormatKey {
    /// The spellings of all keys.
    static var words: [String] { allCases.map(\.rawValue) }
}

/// An object by the keys that its format has declared. The comparison of two answers uses the same declaration: a key
/// that was read and not declared would make a change of it a repeat.
struct Members<Key: FormatKey> {
    private let object: JSON.Object

    /// The object at a place in the flags. If it may stand in two, the member `mark` tells that the flags are it.
    init(of flags: JSON.Object, at place: Place, mark: Key) throws(InvalidFlag) {
        switch place {
        case .whole: object = flags
        case .memberOrWhole(let key) where flags[key] == nil && flags[mark.rawValue] != nil:
            object = flags
        case .member(let key), .memberOrWhole(let key): object = try Flag(key, of: flags).object()
        }
    }

    subscript(key: Key) -> Flag { Flag(key.rawValue, of: object) }
}
