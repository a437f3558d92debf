import JSON

/// The format `boolean`: one flag, which is true or false. It closes the service with one of the two.
package struct BooleanFlag: Hashable, Sendable {
    /// The key of the flag, or `FlagDocument.wholeKey`.
    package let key: String
    /// The value with which the service is closed. There is no default: names of flags say either.
    package let closedWhen: Bool
    package let closedState: ClosedState

    /// A flag that closes a service with the value `closedWhen`. Without a key it is the whole answer.
    package init(key: String?, closedWhen: Bool, closedState: ClosedState = .maintenance) {
        self.key = key ?? FlagDocument.wholeKey
        self.closedWhen = closedWhen
        self.closedState = closedState
    }

    /// Null counts as missing, and nothing is forgiven: the one value decides.
    func read(_ flags: JSON.Object) throws(InvalidFlag) -> Reading {
        let flag = Flag(key, of: flags)
        guard flag.optional != nil else { throw .missing(key: key) }
        return Reading(claims: [try flag.boolean() == closedWhen ? closedState.claim : .running])
    }
}

/// The state of a service that a Boolean closes.
package enum ClosedState: String, CaseIterable, Sendable {
    case maintenance
    case updateRequired = "update-required"
    case ended

    package var state: State {
        switch self {
        case .maintenance: .maintenance
        case .updateRequired: .updateRequired
        case .ended: .ended
        }
    }

    fileprivate var claim: Claim {
        switch self {
        case .maintenance: .maintenance
        case .updateRequired: .updateRequired
        case .ended: .ended
        }
    }
}
