package import CivilTime

/// The cause of a verdict. Each has one slug for programs and one sentence for people. The large and rare ones are
/// `indirect`: each decision copies several reasons.
package enum Reason: Hashable, Sendable {
    case starting
    /// Stored flags of an earlier boot would open the gate, and the source has not answered yet.
    case awaitingFirstAnswer(SourceName)
    case flags(SourceName)
    /// The source has not answered since the start.
    case storedFlags(SourceName)
    indirect case invalidAnswer(SourceName, InvalidFlag)
    case unconfirmed(SourceName, Unconfirmed)
    /// Fewer people than the service asks for have signed newer flags that would move the gate.
    indirect case awaitingSignature(SourceName, MissingSignatures)
    /// The times are those of the service's zone.
    case windowAhead(SourceName, from: ZonedInstant, until: ZonedInstant)
    case window(SourceName, until: ZonedInstant)
    indirect case versionTooOld(SourceName, installed: Version, minimum: Version)
    case endPassed(SourceName, at: ZonedInstant)
    case endUnreadable(SourceName, String)
    /// An end is a local time, and the time zone of the service is not known: the end is held.
    case zoneUnknown(SourceName, zone: String)
    case stale(SourceName, Staleness, WhenStale)
    case unknown(SourceName, Gate)
    /// The source has not answered, and its stored flags cannot be read: the gate stays as it was in this boot, and is
    /// not opened after another.
    case unreadableFlags(SourceName, Gate)
    /// The clock of this host does not count for the ends of the source: they are held.
    case clockNotBelieved(SourceName)
    /// The order closes some hosts before this one. `from`: when it closes this one; nil if it never does.
    indirect case rollout(SourceName, Rollout.Wait, from: ZonedInstant?)
    /// Flags have opened the gate, and it closed less than `limit` ago, the `min_closed` of the service.
    case minClosed(SourceName, until: ZonedInstant, limit: Duration)
    /// Flags have opened the gate, and this host waits its part of `open_spread`.
    case reopening(SourceName, at: ZonedInstant)
    /// The host guard holds the gate open.
    case closingHeld(SourceName)
    /// A guard does not let the step of this host come: a step of a rollout, or its turn to open the gate.
    indirect case awaitingGuard(SourceName, GuardHold, isTurn: Bool = false)
    indirect case overridden(Override, until: ZonedInstant?)
}

/// Why flags are stale.
package enum Staleness: Sendable {
    /// The source has not confirmed them for `max_stale`.
    case old
    /// Their own `expires` has passed.
    case expired
    /// The signatures under them do not count any more, or they have none and need some.
    case unproved

    fileprivate var clause: String {
        switch self {
        case .old: "are older than max_stale"
        case .expired: "have expired"
        case .unproved: "no longer have a valid signature"
        }
    }
}

extension Reason {
    /// The reason as one word in state.json and in the journal; killswitchd(8) explains each.
    package enum Slug: String, CaseIterable, Sendable {
        case starting
        case awaitingFirstAnswer = "awaiting-first-answer"
        case flags
        case storedFlags = "stored-flags"
        case invalidAnswer = "invalid-answer"
        case unconfirmed
        case windowAhead = "window-ahead"
        case window
        case versionTooOld = "version-too-old"
        case endPassed = "end-passed"
        case endUnreadable = "end-unreadable"
        case zoneUnknown = "zone-unknown"
        case staleHold = "stale-hold"
        case staleOpen = "stale-open"
        case staleClosed = "stale-closed"
        case staleEnded = "stale-ended"
        case expiredHold = "expired-hold"
        case expiredOpen = "expired-open"
        case expiredClosed = "expired-closed"
        case expiredEnded = "expired-ended"
        case unknownOpen = "unknown-open"
        case unknownClosed = "unknown-closed"
        case unreadableOpen = "unreadable-open"
        case unreadableClosed = "unreadable-closed"
        case clockNotBelieved = "clock-not-believed"
        case rollout
        case minClosed = "min-closed"
        case reopening = "reopening-at"
        case closingHeld = "closing-held"
        case overridden = "override"
        case awaitingGuard = "awaiting-guard"
        case awaitingSignature = "awaiting-signature"
        case unprovedHold = "unproved-hold"
        case unprovedOpen = "unproved-open"
        case unprovedClosed = "unproved-closed"
        case unprovedEnded = "unproved-ended"
        // Why a signed document is refused.
        case unsigned
        case trailingBytes = "trailing-bytes"
        case tooManySignatures = "too-many-signatures"
        case malformedSignature = "malformed-signature"
        case otherNamespace = "other-namespace"
        case hashNotAccepted = "hash-not-accepted"
        case keyTypeNotAccepted = "key-type-not-accepted"
        case signerNotListed = "signer-not-listed"
        case signerForOtherNamespaces = "signer-for-other-namespaces"
        case signerNotYetValid = "signer-not-yet-valid"
        case signerNoLongerValid = "signer-no-longer-valid"
        case changedBytes = "changed-bytes"
        case securityKeyUntouched = "security-key-untouched"
        case signedMemberUnreadable = "signed-member-unreadable"
        case otherAudience = "other-audience"
        case rollback
        case sameVersionOtherBytes = "same-version-other-bytes"
        case expiredAtFirstSight = "expired-at-first-sight"
        case documentTooLarge = "document-too-large"
        case signersUnreadable = "signers-unreadable"
        case versionUnreadable = "version-unreadable"
        case versionNotStored = "version-not-stored"
    }

    package var slug: Slug { facts.slug }

    /// When the gate opens that flags have opened; nil if it does not wait.
    package var opensAt: Instant? {
        if case .minClosed(_, let until, _) = self { return until.instant }
        if case .reopening(_, let time) = self { return time.instant }
        return nil
    }

    /// The source that the reason names; nil if it names none.
    package var source: SourceName? { facts.source }

    /// Whether the verdict does not rest on current good flags. Such a reason is logged as a warning.
    package var isDegraded: Bool { facts.isDegraded }

    private var facts: (slug: Slug, source: SourceName?, isDegraded: Bool) {
        switch self {
        case .starting: (.starting, nil, false)
        case .awaitingFirstAnswer(let source): (.awaitingFirstAnswer, source, false)
        case .flags(let source): (.flags, source, false)
        case .storedFlags(let source): (.storedFlags, source, false)
        case .invalidAnswer(let source, .refused(let slug, _)): (slug, source, true)
        case .invalidAnswer(let source, _): (.invalidAnswer, source, true)
        case .unconfirmed(let source, _): (.unconfirmed, source, false)
        case .awaitingSignature(let source, _): (.awaitingSignature, source, false)
        case .windowAhead(let source, _, _): (.windowAhead, source, false)
        case .window(let source, _): (.window, source, false)
        case .versionTooOld(let source, _, _): (.versionTooOld, source, true)
        case .endPassed(let source, _): (.endPassed, source, false)
        case .endUnreadable(let source, _): (.endUnreadable, source, true)
        case .zoneUnknown(let source, _): (.zoneUnknown, source, true)
        case .stale(let source, .old, .hold): (.staleHold, source, true)
        case .stale(let source, .old, .open): (.staleOpen, source, true)
        case .stale(let source, .old, .closed): (.staleClosed, source, true)
        case .stale(let source, .old, .ended): (.staleEnded, source, true)
        case .stale(let source, .expired, .hold): (.expiredHold, source, true)
        case .stale(let source, .expired, .open): (.expiredOpen, source, true)
        case .stale(let source, .expired, .closed): (.expiredClosed, source, true)
        case .stale(let source, .expired, .ended): (.expiredEnded, source, true)
        case .stale(let source, .unproved, .hold): (.unprovedHold, source, true)
        case .stale(let source, .unproved, .open): (.unprovedOpen, source, true)
        case .stale(let source, .unproved, .closed): (.unprovedClosed, source, true)
        case .stale(let source, .unproved, .ended): (.unprovedEnded, source, true)
        case .unknown(let source, .open): (.unknownOpen, source, true)
        case .unknown(let source, .closed): (.unknownClosed, source, true)
        case .unreadableFlags(let source, .open): (.unreadableOpen, source, true)
        case .unreadableFlags(let source, .closed): (.unreadableClosed, source, true)
        case .clockNotBelieved(let source): (.clockNotBelieved, source, true)
        case .rollout(let source, _, _): (.rollout, source, false)
        case .minClosed(let source, _, _): (.minClosed, source, false)
        case .reopening(let source, _): (.reopening, source, false)
        case .closingHeld(let source): (.closingHeld, source, true)
        case .awaitingGuard(let source, _, _): (.awaitingGuard, source, true)
        case .overridden: (.overridden, nil, false)
        }
    }

    /// The reason as a sentence without the full stop, to follow "shop is in maintenance: ".
    package var sentence: String {
        switch self {
        case .starting: "waiting for the first answer since the start"
        case .awaitingFirstAnswer(let source):
            "the stored flags would open the gate after this reboot; waiting for source "
                + "'\(source)' to answer first"
        case .flags(let source): "set by the flags of source '\(source)'"
        case .storedFlags(let source):
            "source '\(source)' has not answered since the start; set by its stored flags"
        case .invalidAnswer(let source, let problem):
            ServiceProblem.invalidAnswer(source, problem, hasFlags: true).text
        case .unconfirmed(let source, let unconfirmed):
            "source '\(source)' asks to \(unconfirmed.gate.request) the gate; confirmed by "
                + "\(unconfirmed.count) of \(unconfirmed.needed) answers"
        case .awaitingSignature(let source, let missing): "source '\(source)' \(missing.clause)"
        case .windowAhead(let source, let from, let until):
            "source '\(source)' plans maintenance from \(from) until \(until)"
        case .window(let source, let until):
            "maintenance planned by source '\(source)' lasts until \(until)"
        case .versionTooOld(let source, let installed, let minimum):
            "source '\(source)' requires version \(quoted(minimum.text)), and "
                + "\(quoted(installed.text)) is installed"
        case .endPassed(let source, let end):
            "the end that source '\(source)' announced for \(end) has passed"
        case .endUnreadable(let source, let text):
            "source '\(source)' announces an end, but \(quoted(text)) is not a date; the days left "
                + "are unknown"
        case .zoneUnknown(let source, let zone):
            "source '\(source)' announces an end as a local time, and the time zone "
                + "\(quoted(zone)) cannot be read; the end neither comes nor is taken back"
        case .stale(let source, let staleness, let outcome):
            "the flags of source '\(source)' \(staleness.clause); "
                + outcome.clause
        case .unknown(let source, let gate):
            "source '\(source)' has never given valid flags; when_unknown \(gate.movement)"
        case .unreadableFlags(let source, let gate):
            "the stored flags of source '\(source)' cannot be read, and it has not answered; the gate stays "
                + (gate == .open ? "open, as it was" : "closed until it answers")
        case .clockNotBelieved(let source):
            "the clock of this host is not trusted; ends and windows of source '\(source)' neither "
                + "begin nor end until it is"
        case .rollout(let source, let wait, let from):
            "source '\(source)' closes \(Rollout.share(wait.reach)) of all hosts, but not this one "
                + "(slot \(wait.slot.number) of \(Slot.count)); "
                + (from.map { "this host closes at \($0)" }
                    ?? (wait.arrival == nil
                        ? "no step reaches this host"
                        : "the closing is over before it reaches this host"))
        case .minClosed(let source, let until, let limit):
            "source '\(source)' opens the gate again at \(until) (min_closed \(limit.inSeconds))"
        case .reopening(let source, let time):
            "source '\(source)' opens the gate again; this host opens it at \(time) (open_spread)"
        case .closingHeld(let source):
            "source '\(source)' would close more services at once than close_at_once allows; the "
                + "gate stays open until 'killswitchctl confirm'"
        case .awaitingGuard(let source, let hold, let isTurn):
            "guard '\(hold.name)' holds "
                + (isTurn
                    ? "the turn of this host to open the gate (open_spread)"
                    : "the step by which source '\(source)' closes this host")
                + ": \(hold.cause); asking again every \(GuardHold.pause.inSeconds), and "
                + "'killswitchctl confirm' lets it come"
        case .overridden(let override, let until):
            "forced by \(quoted(override.author)) until "
                + "\(until.map { "\($0)" } ?? "it is released"): \(quoted(override.cause))"
        }
    }
}

extension Duration {
    /// `5 s`, or `500 ms` if it is not whole seconds.
    package var inSeconds: String {
        let milliseconds = microseconds / 1000
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
    }
}

extension Gate {
    /// What flags ask for: `open`, `close`.
    var request: String { self == .open ? "open" : "close" }

    fileprivate var movement: String { self == .open ? "opens the gate" : "closes the gate" }
}

extension WhenStale {
    /// What it does, as the end of a sentence about the flags.
    fileprivate var clause: String {
        switch self {
        case .hold: "they stay in force (when_stale = \"hold\")"
        case .open, .closed:
            "when_stale \(self == .open ? Gate.open.movement : Gate.closed.movement)"
        case .ended: "when_stale ends the service"
        }
    }
}
