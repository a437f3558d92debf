import CivilTime

/// The clock of a source with signers: the wall clock, which never counts as earlier than an instant that surely
/// lies in the past.
///
/// The server of a signed document, or a proxy before it, writes the `Date` of the answer. It moves
/// nothing: else the holder of a server would choose when a signed end comes.
extension ClockTrust {
    /// The clock for the ends and windows of a source with signers, held while the wall clock is too early. `past` is
    /// when the present state began, by an earlier run: it counts until a synchronised clock says otherwise.
    func signedClock(
        of source: SourceName, _ wait: Duration, _ past: Instant?, at now: Now
    ) -> EndClock {
        guard now.wall < floor(of: source) else { return .host }
        let known = max(now.wall, certainFloor(of: source))
        let isWaitOver = holdEnds(of: source, wait: wait).map { $0 <= now.boot } ?? false
        return .held(isSynchronised && isWaitOver ? known : max(known, past ?? known))
    }

    /// The latest instant that surely lies in the past for a source: an earlier wall clock is wrong.
    func floor(of source: SourceName) -> Instant { max(floor, certainFloor(of: source)) }

    /// The same without the times of stored flags, which the clock of this host has told.
    ///
    /// The clocks of signers differ, so that a document was surely issued only by the tolerance earlier. One that
    /// was issued ahead of a synchronised clock has a signer with a wrong clock.
    private func certainFloor(of source: SourceName) -> Instant {
        guard !isSynchronised, let issued = servers[source]?.issued else { return certain }
        return max(certain, issued - Self.tolerance)
    }
}

extension ClockTrust.Server {
    /// Whether a document was issued far ahead of the wall clock.
    func isIssuedAhead(at now: Now) -> Bool {
        issued.map { now.wall < $0 - ClockTrust.tolerance } ?? false
    }

    /// What a document that was issued far ahead of the wall clock means, as a clause; nil without one.
    func issueWarning(isSynchronised: Bool, at now: Now) -> String? {
        guard isIssuedAhead(at: now), let issued else { return nil }
        let amount = (issued - now.wall).distanceInWords
        return "a document was issued \(amount) ahead of the clock of this host, which is "
            + (isSynchronised
                ? "synchronised: the signer's clock is wrong"
                : "not synchronised: ends and windows take the time of issue for now")
    }
}
