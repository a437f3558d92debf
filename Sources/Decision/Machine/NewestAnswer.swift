/// The fate of the newest answer of a source at one switch. Most are accepted; what is known of another lies apart, so
/// that a switch is small.
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
