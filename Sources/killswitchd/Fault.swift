#if DEBUG
/// Faults that a build for tests can be told to have, so that a test sees what they lead to. A
/// release has none of this.
enum Fault {
    /// `KILLSWITCHD_FAULT=lost-timer`: no timer is ever set.
    static var losesTimers: Bool {
        environmentVariable("KILLSWITCHD_FAULT") == "lost-timer"
    }
}
#endif
