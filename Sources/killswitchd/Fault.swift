#if DEBUG
/// Faults that a build for tests can be told to have, so that a test sees what they lead to. A
/// release has none of this.
enum Fault {
    /// `KILLSWITCHD_FAULT=killed-after-move`: the process is killed once it has asked for one move.
    static var diesAfterMove: Bool {
        environmentVariable("KILLSWITCHD_FAULT") == "killed-after-move"
    }

    /// `KILLSWITCHD_FAULT=lost-timer`: no timer is ever set.
    static var losesTimers: Bool {
        environmentVariable("KILLSWITCHD_FAULT") == "lost-timer"
    }
}
#endif
