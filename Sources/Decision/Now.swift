package import CivilTime

/// The time of an event, on both axes. It comes with the event: nothing here asks a clock.
package struct Now: Hashable, Sendable {
    /// Ends, windows and midnights follow this one. It may step, and it may be wrong.
    package var wall: Instant
    /// Polls, time-outs and ages follow this one.
    package var boot: Boottime

    package init(wall: Instant, boot: Boottime) {
        self.wall = wall
        self.boot = boot
    }
}
