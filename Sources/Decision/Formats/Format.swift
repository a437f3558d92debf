package import CivilTime
package import JSON

/// How flags become a state, with the keys they are read from.
package enum Format: Hashable, Sendable {
    /// Strings. The first of `endKeys` that the flags hold is read.
    case serviceEnd(endKeys: [String], countdownKey: String)
    /// `apiInactive`, `forceUpdate`, `retryInterval`, `userMessage`.
    case status(Place)
    /// `isUnderMaintenance`, `title`, `message`.
    case maintenance(Place)
    /// `state`, and what is planned: our own.
    case switchObject(Place)
}

/// Where in a source's flags a format finds its object.
package enum Place: Hashable, Sendable {
    /// The flags themselves are the object.
    case whole
    /// The member of this name is the object, or a string that holds one.
    case member(String)
    /// The member of this name if there is one, else the flags themselves.
    case memberOrWhole(String)
}

extension Format {
    /// What `flags` say by this format. A date without an offset is read in `zone`.
    package func read(_ flags: JSON.Object, in zone: Zone) throws(InvalidFlag) -> Reading {
        switch self {
        case .serviceEnd(let endKeys, let countdownKey):
            try ServiceEnd.read(
                flags, endKeys: endKeys, countdownKey: countdownKey, zone: zone)
        case .status(let place):
            try Status.read(flags.object(at: place, mark: "apiInactive"))
        case .maintenance(let place):
            try Maintenance.read(flags.object(at: place, mark: "isUnderMaintenance"))
        case .switchObject(let place):
            try SwitchObject.read(flags.object(at: place, mark: "state"))
        }
    }
}

extension Format {
    /// Its word in the configuration.
    package var word: String {
        switch self {
        case .serviceEnd: "service-end"
        case .status: "status"
        case .maintenance: "maintenance"
        case .switchObject: "switch"
        }
    }

    /// The flags among these that it looks at, as they stand there.
    package func relevant(in flags: JSON.Object) -> JSON.Object {
        let keys: [String]
        switch self {
        case .serviceEnd(let endKeys, let countdownKey):
            keys = [endKeys.first { flags[$0] != nil }, countdownKey].compactMap(\.self)
        case .status(let place): keys = place.keys(else: Self.statusKeys, in: flags)
        case .maintenance(let place): keys = place.keys(else: Self.maintenanceKeys, in: flags)
        case .switchObject(let place): keys = place.keys(else: Self.switchKeys, in: flags)
        }
        return JSON.Object(keys.compactMap { key in flags[key].map { (key, $0) } })
    }

    private static let statusKeys = ["apiInactive", "forceUpdate", "retryInterval", "userMessage"]
    private static let maintenanceKeys = ["isUnderMaintenance", "title", "message"]
    private static let switchKeys = [
        "state", "ends_at", "windows", "minimum_version", "version", "expires", "title", "message",
        "retry_after",
    ]
}

extension Place {
    fileprivate func keys(else members: [String], in flags: JSON.Object) -> [String] {
        switch self {
        case .whole: members
        case .member(let key): [key]
        case .memberOrWhole(let key): flags[key] == nil ? members : [key]
        }
    }
}

/// The format `service-end`: one word that lets a service run, count down or end, and a date.
enum ServiceEnd {
    /// `"no"` runs and `"countdown"` counts down; *every* other text ends the service, the empty one
    /// included, for that is how the applications that share these flags read them.
    static func read(
        _ flags: JSON.Object, endKeys: [String], countdownKey: String, zone: Zone
    ) throws(InvalidFlag) -> Reading {
        let key = endKeys.first { flags[$0] != nil } ?? endKeys.first ?? "service_end"
        let word = try flags.string(key)
        if isSame(word, "no") { return Reading(claims: [.running]) }
        guard isSame(word, "countdown") else { return Reading(claims: [.ended]) }
        return Reading(claims: [.countdown(end(try flags.string(countdownKey), in: zone))])
    }

    private static func end(_ text: String, in zone: Zone) -> End {
        do {
            return .at(try Timestamp.parse(text).instant(in: zone))
        } catch {
            return .unreadable(text)
        }
    }

    /// Swift's `==` is canonical equivalence; an order is compared to the byte.
    private static func isSame(_ left: String, _ right: String) -> Bool {
        left.utf8.elementsEqual(right.utf8)
    }
}

/// The format `status`: an API that is inactive, an update that is required, when to ask again.
enum Status {
    static func read(_ object: JSON.Object) throws(InvalidFlag) -> Reading {
        let isInactive = try object.boolean("apiInactive")
        let needsUpdate = try object.boolean("forceUpdate")
        var claims: [Claim] = []
        if needsUpdate { claims.append(.updateRequired) }
        if isInactive { claims.append(.maintenance) }
        if claims.isEmpty { claims.append(.running) }
        return Reading(
            claims: claims, message: try object.optionalString("userMessage"),
            retryAfter: try object.optionalSeconds("retryInterval").map(clampedRetry))
    }
}

/// What a remote flag may ask for between two polls: 1 second to 1 hour.
func clampedRetry(_ wish: Duration) -> Duration {
    min(max(wish, .seconds(1)), .seconds(3600))
}

/// The format `maintenance`: whether the service is under maintenance, and what to tell its users.
enum Maintenance {
    /// The texts count during maintenance alone: they are often prepared long before it.
    static func read(_ object: JSON.Object) throws(InvalidFlag) -> Reading {
        let isUnderMaintenance = try object.boolean("isUnderMaintenance")
        let title = try object.optionalString("title")
        let message = try object.optionalString("message")
        guard isUnderMaintenance else { return Reading(claims: [.running]) }
        return Reading(claims: [.maintenance], title: title, message: message)
    }
}
