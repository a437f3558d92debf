package import CivilTime

/// The time of an event by both clocks. It comes with the event: the machine reads no clock.
package struct Now: Hashable, Sendable {
    /// The wall clock, for ends, windows and midnights. It may step, and it may be wrong.
    package var wall: Instant
    /// The clock since boot, for polls, time-outs and ages.
    package var boot: Boottime

    /// One moment, read from both clocks.
    package init(wall: Instant, boot: Boottime) {
        self.wall = wall
        self.boot = boot
    }
}

/// Whether the wall clock is believed, and the time for ends and windows if it is not.
///
/// A board without a battery boots in 1970; a virtual machine may resume with last week's time.
/// Such a clock must not end a service or a window. It is not believed while it is earlier than an
/// instant that surely lies in the past, or far from the `Date` of the last answer.
struct ClockTrust {
    /// The largest accepted distance between our clock and a server's `Date`.
    static let tolerance: Duration = .seconds(5 * 60)

    /// The latest instant that surely lies in the past: of the build, of systemd's clock file, of
    /// the newest stored flags.
    private var floor: Instant
    /// The `Date` of the last answer, and when it came.
    private var reference: (date: Instant, at: Boottime)?
    /// When the first `Date` since the start came.
    private var firstDateAt: Boottime?

    /// A clock that is believed from `floor` on, until a server's `Date` contradicts it.
    init(floor: Instant) { self.floor = floor }

    /// Takes `instant` as past: an earlier run stored flags then, by a clock that was believed.
    mutating func raiseFloor(to instant: Instant) { floor = max(floor, instant) }

    /// Takes `instant` as past if the clock is believed now: stored flags were fetched then.
    mutating func raiseFloor(to instant: Instant, at now: Now) {
        if believes(now) { raiseFloor(to: instant) }
    }

    /// Notes the `Date` of an answer (RFC 9110 §6.6.1).
    mutating func observe(date: Instant, at now: Now) {
        reference = (date, now.boot)
        firstDateAt = firstDateAt ?? now.boot
    }

    /// Whether the wall clock is believed.
    func believes(_ now: Now) -> Bool {
        guard now.wall >= floor else { return false }
        guard let serverTime = serverTime(at: now) else { return true }
        let distance = now.wall - serverTime
        return distance <= Self.tolerance && distance >= .zero - Self.tolerance
    }

    /// The time for ends and windows while the clock is not believed: the earlier of our clock and
    /// the server's.
    func heldTime(at now: Now) -> Instant { min(now.wall, serverTime(at: now) ?? now.wall) }

    private func serverTime(at now: Now) -> Instant? {
        reference.map { $0.date + (now.boot - $0.at) }
    }

    /// Until when a clock that is not believed holds ends and windows: for `wait` after the earlier
    /// of `heardAt`, the first answer of the service, and the first `Date`. Nil before both.
    func holdEnds(after wait: Duration, heardAt: Boottime?) -> Boottime? {
        [heardAt, firstDateAt].compactMap(\.self).min().map { $0 + wait }
    }

    /// When a clock that is too early reaches the floor; nil if it is past the floor.
    func reachesFloor(at now: Now) -> Instant? { now.wall < floor ? floor : nil }
}
