import CivilTime

/// What is told of clocks that are far from ours.
extension ClockTrust {
    /// Which clock is far from ours, and which of the two counts; nil if none is.
    func warning(about source: SourceName, at now: Now) -> String? {
        guard contradicting.contains(source), let server = servers[source] else { return nil }
        return server.issueWarning(isSynchronised: isSynchronised, at: now)
            ?? server.clock?.warning(
                of: server.mirror, isSigned: server.isSigned, isSynchronised: isSynchronised,
                at: now)
    }

    /// The warnings about all servers whose clock is far from ours.
    func presentWarnings(at now: Now) -> [(source: SourceName, warning: String)] {
        contradicting.sorted().compactMap { name in
            warning(about: name, at: now).map { (name, $0) }
        }
    }
}
