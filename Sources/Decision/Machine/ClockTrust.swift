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

/// Whether the wall clock is believed, and what time it is for ends and windows when it is not.
///
/// A board without a battery boots in 1970, a virtual machine wakes up last week: an end must not
/// come true, or a window end, by such a clock. So it is not believed while it is earlier than
/// something that surely lies in the past, or far from what the last answer's server said.
package struct ClockTrust: Hashable, Sendable {
    private struct Reference: Hashable {
        var date: Instant
        var at: Boottime
    }

    /// How far our clock may be from a server's `Date`.
    static let tolerance: Duration = .seconds(5 * 60)

    /// The latest instant that surely lies in the past: of the build, of systemd's clock file, of
    /// the newest stored flags.
    private var floor: Instant
    /// What the last answer said that the time was, and when it said so.
    private var reference: Reference?
    /// When the first answer since the start said what time it was.
    private var firstDateAt: Boottime?

    /// A clock that is believed from `floor` on, until a server says otherwise.
    package init(floor: Instant) {
        self.floor = floor
    }

    /// Takes in that an earlier run stored flags at `instant`, by a clock that was believed.
    mutating func raiseFloor(to instant: Instant) {
        floor = max(floor, instant)
    }

    /// Takes in that flags are stored which were fetched at `instant`, if the clock is believed now.
    mutating func raiseFloor(to instant: Instant, at now: Now) {
        if believes(now) { raiseFloor(to: instant) }
    }

    /// Takes in the `Date` of an answer.
    package mutating func observe(date: Instant, at now: Now) {
        reference = Reference(date: date, at: now.boot)
        firstDateAt = firstDateAt ?? now.boot
    }

    /// Whether the wall clock is believed.
    package func believes(_ now: Now) -> Bool {
        guard now.wall >= floor else { return false }
        guard let reference else { return true }
        let expected = reference.date + (now.boot - reference.at)
        let distance = now.wall - expected
        return distance <= Self.tolerance && distance >= .zero - Self.tolerance
    }

    /// The time that ends and windows are judged by while the clock is not believed: nothing is taken
    /// to have passed that has not passed by our clock and by the server's.
    func heldTime(at now: Now) -> Instant {
        guard let reference else { return now.wall }
        return min(now.wall, reference.date + (now.boot - reference.at))
    }

    /// Until when a clock that is not believed holds ends and windows: for `wait` after a service was
    /// answered at `heardAt`, or the host by a server that says what time it is. Nil before both.
    func holdEnds(after wait: Duration, heardAt: Boottime?) -> Boottime? {
        [heardAt, firstDateAt].compactMap(\.self).min().map { $0 + wait }
    }

    /// When a clock that is too early reaches what surely lies in the past, if that is what is wrong.
    func doubtEnds(at now: Now) -> Instant? {
        now.wall < floor ? floor : nil
    }
}
