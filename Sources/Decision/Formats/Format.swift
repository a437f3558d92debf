/// How flags become a state, with the keys they are read from.
package enum Format: Hashable, Sendable {
    /// Strings. The first of `endKeys` that the flags hold is read.
    case serviceEnd(endKeys: [String], countdownKey: String)
    /// `apiInactive`, `forceUpdate`, `retryInterval`, `userMessage`.
    case status(Place)
    /// `isUnderMaintenance`, `title`, `message`.
    case maintenance(Place)
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
