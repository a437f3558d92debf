package import CivilTime

/// Everything known of one switch when its service is decided: reading, age, problem.
package struct Evidence: Hashable, Sendable {
    package var source: SourceName
    /// The reading of the last good flags; nil if none were ever read.
    package var reading: Reading?
    /// Whether the source gave or confirmed flags since the start.
    package var isAnswered = false
    /// Whether there are stored flags that cannot be read: they may close the gate.
    package var isUnreadable = false
    /// Whether the service still waits for the first answer since the start.
    package var isAwaited = false
    /// Whether the host has just woken up, and the source may not have been polled since.
    package var isWaking = false
    /// What measures its ends and windows.
    package var clock = EndClock.host
    /// How long ago the source last confirmed those flags.
    package var age = Duration.zero
    /// The fate of the newest answer.
    package var newest = NewestAnswer.accepted
    /// Who signed the flags in force.
    package var authors: [String] = []
    /// Whether the signatures of the flags in force do not count any more.
    package var isUnproved = false
    /// The version of the flags in force: the `version` in them, else the source's own, such as an
    /// ETag or a revision.
    package var version: String?
}

extension Evidence {
    /// The evidence of a switch whose source has not answered and is not awaited.
    package init(source: SourceName, reading: Reading? = nil) {
        self.source = source
        self.reading = reading
    }

    /// The time for its ends and windows.
    package func time(in circumstances: Circumstances) -> Instant {
        switch clock {
        case .host: circumstances.time
        case .held(let time): time
        }
    }

    /// Whether its ends and windows are held.
    var isHeld: Bool { if case .held = clock { true } else { false } }
}

/// What measures the ends and windows of a source.
package enum EndClock: Hashable, Sendable {
    /// The wall clock of this host.
    case host
    /// Nothing: the wall clock does not count. What has come until then stays, and the rest waits.
    case held(Instant)
}

/// What a decision depends on besides the evidence: time, boot, override, installed version.
package struct Circumstances: Hashable, Sendable {
    /// The time of the wall clock.
    package var time: Instant
    /// Whether the order stays in force past its end: the clock does not count for it.
    package var isOverrideHeld = false
    /// Whether this service was decided in this boot already, so that its units may be running.
    package var isSameBoot: Bool
    /// The gate that its flags and its policy wanted at the last decision in this boot; nil before
    /// the first.
    package var wantedBefore: Gate?
    /// The state in which an earlier run of this boot has left the service; nil without one.
    package var stateAtStart: State?
    /// Whether it had ended at the last decision, and not by an order in this boot.
    package var hasEnded = false
    /// The installed version of the software that the service runs; nil if unknown.
    package var installed: Version?
    /// The override of an operator, whether it has expired or not.
    package var override: Override?
    /// What tells this host from others.
    package var place = HostPlace.named("")
    /// Why a step of a rollout that has come for this host is held; nil if none is.
    var stepHold: StepHold?
}

extension Circumstances {
    /// The circumstances without an override or an installed version.
    package init(time: Instant, isSameBoot: Bool) {
        self.time = time
        self.isSameBoot = isSameBoot
    }

    /// The same circumstances without an override.
    package var unforced: Self {
        var circumstances = self
        circumstances.override = nil
        return circumstances
    }

    /// The override in force; nil if there is none, or its end has come and is not held.
    package var overrideInForce: Override? {
        guard let override, !override.hasEnded(at: time) || isOverrideHeld else { return nil }
        return override
    }
}

/// The fate of the newest answer of a source at one switch.
///
/// It is `indirect`, so that a switch and its evidence are small: each decision copies several of them, and most
/// answers are accepted.
package indirect enum NewestAnswer: Hashable, Sendable {
    /// It is in force or staged, or none has come yet. Left for any other case by an offer.
    case accepted
    /// It would move the gate, and too few answers in a row agree yet. Left for `accepted` when
    /// enough agree or the source returns to the flags in force, and for the other cases by the
    /// next answer.
    case unconfirmed(Unconfirmed)
    /// It cannot be read, or its version is lower than an accepted one. Left for any other case
    /// by the next answer.
    case invalid(InvalidFlag)
    /// Too few people have signed it. Left for any other case by the next answer, such as the
    /// same document with another signature.
    case awaitingSignature(MissingSignatures)

    /// Whether it is in force or staged, or none has come yet.
    package var isAccepted: Bool { if case .accepted = self { true } else { false } }

    /// Why it is invalid; nil if it is not.
    package var problem: InvalidFlag? {
        if case .invalid(let problem) = self { problem } else { nil }
    }

    /// The newest answers that would move the gate and are too few yet.
    package var unconfirmed: Unconfirmed? {
        if case .unconfirmed(let unconfirmed) = self { unconfirmed } else { nil }
    }

    /// The signatures that it lacks; nil if it lacks none.
    package var missing: MissingSignatures? {
        if case .awaitingSignature(let missing) = self { missing } else { nil }
    }
}

/// Answers that agree with each other on moving the gate, and are fewer than the policy asks for.
package struct Unconfirmed: Hashable, Sendable {
    /// The gate that they ask for.
    package var gate: Gate
    /// How many came in a row.
    package var count: Int
    /// How many the policy asks for: `confirm_close` or `confirm_open`.
    package var needed: Int

    /// `count` of `needed` answers that ask for `gate`.
    package init(gate: Gate, count: Int, needed: Int) {
        self.gate = gate
        self.count = count
        self.needed = needed
    }
}

extension Evidence {
    /// The reason for an end or a window ahead that is held; nil if it is not.
    var clockReason: Reason? { isHeld ? .clockNotBelieved(source) : nil }
}
