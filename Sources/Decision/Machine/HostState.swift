import CivilTime

/// The state of the host on which the decision of every service depends.
struct HostState {
    /// The time of the present event.
    var now: Now
    var trust: ClockTrust
    let bootID: String
    /// What tells it from other hosts.
    let place: HostPlace
    /// Whether services wait for first answers.
    var awaitsFirstAnswers = true
    /// When the host last woke up, or the daemon last ran again after a pause.
    var wokenAt: Boottime?
}
