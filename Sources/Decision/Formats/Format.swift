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
