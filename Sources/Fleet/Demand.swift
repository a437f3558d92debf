package import Decision

/// What every host of a fleet has to be for a "yes".
package struct Demand: Hashable, Sendable {
    package let condition: Condition
    /// The version of the flags by which it has to have decided; nil for any.
    package let version: String?

    package enum Condition: Hashable, Sendable {
        /// Gate and units as the host itself has decided, and all hosts alike.
        case own
        /// The decision.
        case gate(Gate)
        /// The effect: every unit down behind the closed gate, or up behind the open one.
        case effect(Gate)
        case state(State)
    }

    package init(_ condition: Condition, version: String? = nil) {
        (self.condition, self.version) = (condition, version)
    }

    /// Whether a host with this account has obeyed. `common` is what more than half of the hosts have decided.
    func evaluate(_ account: HostAccount, common: Decided?) -> Obedience {
        if let version, account.version != version {
            return account.undecided("not by flags version '\(version)'")
        }
        switch condition {
        case .gate(let gate): return account.gate == gate ? .obeyed : account.undecided()
        case .state(let state): return account.state == state ? .obeyed : account.undecided()
        case .effect(let gate):
            guard account.gate == gate else { return account.undecided() }
            return account.effect.obedience
        case .own:
            guard account.gate != nil else { return account.undecided() }
            if let obstacle = account.obstacle { return .failed(obstacle) }
            let effect = account.effect.obedience
            guard effect == .obeyed || account.effect.isUnmoved else { return effect }
            if let warning = account.warning { return .late(warning) }
            let others = common.map { "most hosts are \($0.words)" }
            return Decided(account) == common
                ? .obeyed
                : account.undecided(
                    "and " + (others ?? "no more than half of the hosts decide alike"))
        }
    }
}

/// What a host has decided: hosts with the same are alike.
struct Decided: Hashable {
    let state: State
    let version: String?

    init(_ account: HostAccount) { (state, version) = (account.state, account.version) }

    /// `running by flags version '41'`.
    var words: String { state.rawValue + (version.map { " by flags version '\($0)'" } ?? "") }

    /// What more than half of these accounts have decided; nil without such a decision.
    static func common(of accounts: [HostAccount]) -> Decided? {
        let counts = accounts.reduce(into: [:]) { $0[Decided($1), default: 0] += 1 }
        return counts.first { $0.value * 2 > accounts.count }?.key
    }
}

/// Whether a host has obeyed. Each case but the first has a clause for people.
package enum Obedience: Hashable, Sendable {
    /// It is as demanded, and has said so itself, lately.
    case obeyed
    /// It is alive and not as demanded, and that may come by itself.
    case late(String)
    /// It is not as demanded, and that will not come by itself.
    case failed(String)
    /// It gives no sign of life, or the inventory names it and nobody knows it.
    case silent(String)
    case unknown(String)
    /// The inventory does not name it.
    case unlisted(String)

    /// The words in tables and in JSON, in the order of the sum line.
    package static let words = ["failed", "late", "silent", "unknown", "not in the inventory"]

    package var word: String {
        switch self {
        case .obeyed: "obeyed"
        case .failed: "failed"
        case .late: "late"
        case .silent: "silent"
        case .unknown: "unknown"
        case .unlisted: "not in the inventory"
        }
    }

    /// The clause; nil for a host that has obeyed.
    package var why: String? {
        switch self {
        case .obeyed: nil
        case .late(let why), .failed(let why), .silent(let why), .unknown(let why),
            .unlisted(let why):
            why
        }
    }
}

extension HostAccount {
    /// Not as demanded: it has not decided so yet, or an obstacle keeps it from that.
    fileprivate func undecided(_ cause: String? = nil) -> Obedience {
        obstacle.map { .failed("\(summary): \($0)") }
            ?? .late([summary, cause, warning].compactMap(\.self).joined(separator: ", "))
    }

    /// The decision in a few words: `it is running by flags version '41' (rollout)`.
    var summary: String {
        "it is \(Decided(self).words)"
            + (reason.map { $0 == Reason.Slug.flags.rawValue ? "" : " (\($0))" } ?? "")
    }
}

extension HostAccount.Effect {
    fileprivate var isUnmoved: Bool { if case .unmoved = self { true } else { false } }

    fileprivate var obedience: Obedience {
        switch self {
        case .complete: .obeyed
        case .underWay(let why): .late(why)
        case .failed(let why), .unmoved(let why): .failed(why)
        case .unknown(let why): .unknown(why)
        }
    }
}
