import CivilTime

/// How often a service may change its mind. Behind the same gate its state changes once in `min_closed`, at least a
/// second; whether a gate waits to open is told once a second. What comes in between is counted, and the last of it
/// takes effect. Closings are never delayed by this.
struct ChangeShare: Hashable, Sendable {
    /// The last change that was made behind the same gate, and until when the next one waits; nil if none does.
    private var waitsUntil: Boottime?
    /// What was held last.
    private var held: Verdict?
    /// How many changes were held since the last one that was made.
    private var count = 0

    /// The least time between two openings, and between two changes of the state behind the same gate.
    static func period(_ minClosed: Duration) -> Duration { max(minClosed, .seconds(1)) }

    /// Until when the verdict before stays; nil if the new one counts at once.
    mutating func hold(
        _ new: Verdict, after before: Verdict?, minClosed: Duration, at now: Boottime
    ) -> Boottime? {
        // What follows a move of the gate is told at once.
        if before?.gate != new.gate { waitsUntil = nil }
        guard let before, let period = Self.limit(new, after: before, minClosed) else {
            held = nil
            return nil
        }
        guard let waitsUntil, now < waitsUntil else {
            waitsUntil = now + period
            held = nil
            return nil
        }
        if held?.state != new.state || held?.reason.slug != new.reason.slug { count += 1 }
        held = new
        return waitsUntil
    }

    /// How long after this change the next one waits; nil for a change that no other one delays, and for none.
    private static func limit(
        _ new: Verdict, after before: Verdict, _ minClosed: Duration
    ) -> Duration? {
        guard new.gate == before.gate, new.gate != nil, new.override == nil, before.override == nil
        else { return nil }
        if new.state != before.state { return period(minClosed) }
        let isOpening = [new, before].contains { $0.reason.slug == .minClosed }
        return isOpening && new.reason.slug != before.reason.slug ? period(.zero) : nil
    }

    /// How many changes were held, once the time in which they came is over; nil if none was. It is told once.
    mutating func reportCount(at now: Boottime) -> Int? {
        guard waitsUntil.map({ $0 <= now }) ?? true, count > 0 else { return nil }
        defer { count = 0 }
        return count
    }

    /// When the count may be told; nil if nothing was held.
    var wake: Boottime? { count > 0 ? waitsUntil : nil }
}
