import CivilTime

/// The state of the host on which the decision of every service depends.
struct HostState {
    var now: Now
    var trust: ClockTrust
    let bootID: String
    var place: HostPlace
    var overrides: [ServiceName: Override]
    /// The stored files that cannot be read.
    var unreadable: UnreadableRecords
    /// Whether services wait for first answers.
    var awaitsFirstAnswers = true
    /// When the host last woke up, or the daemon last ran again after a pause.
    var wokenAt: Boottime?
}
