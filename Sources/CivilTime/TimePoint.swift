/// A point on one time axis, in whole microseconds since that axis began.
///
/// The axis is a phantom type, so that a reading of the wall clock cannot be compared with one of
/// the boot clock by mistake. Arithmetic saturates: the far future stays the far future.
package struct TimePoint<Axis>: Hashable, Comparable, Sendable {
    // Points are compared in other modules more often than all else: their code is inlined there,
    // where the standard library's own `<=` would ask for `<` at run time.
    package var microseconds: Int64

    @inlinable package init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    @inlinable package static func < (left: Self, right: Self) -> Bool {
        left.microseconds < right.microseconds
    }

    @inlinable package static func <= (left: Self, right: Self) -> Bool {
        left.microseconds <= right.microseconds
    }

    @inlinable package static func > (left: Self, right: Self) -> Bool {
        left.microseconds > right.microseconds
    }

    @inlinable package static func >= (left: Self, right: Self) -> Bool {
        left.microseconds >= right.microseconds
    }

    @inlinable package static func + (point: Self, distance: Duration) -> Self {
        Self(microseconds: point.microseconds.addingSaturated(distance.microseconds))
    }

    @inlinable package static func - (point: Self, distance: Duration) -> Self {
        Self(microseconds: point.microseconds.subtractingSaturated(distance.microseconds))
    }

    /// How much later `left` is than `right`; negative when it is earlier.
    @inlinable package static func - (left: Self, right: Self) -> Duration {
        .microseconds(left.microseconds.subtractingSaturated(right.microseconds))
    }
}

/// The axis of `CLOCK_REALTIME`: microseconds since 1970-01-01T00:00:00Z. It can be set, so it steps.
package enum WallClock {}

/// The axis of `CLOCK_BOOTTIME`: microseconds since boot, suspend included. It never steps.
package enum BootClock {}

/// The axis of `CLOCK_MONOTONIC`: microseconds since boot, without suspend. systemd's time stamps of
/// units are on it.
package enum MonotonicClock {}

/// An instant of civil time.
package typealias Instant = TimePoint<WallClock>

/// A moment of this boot.
package typealias Boottime = TimePoint<BootClock>

/// A moment of this boot, as systemd stamps it.
package typealias Uptime = TimePoint<MonotonicClock>

extension TimePoint where Axis == WallClock {
    /// The instant that is this many whole seconds after 1970-01-01T00:00:00Z.
    package init(seconds: Int64) {
        self.init(microseconds: seconds.multipliedSaturated(by: 1_000_000))
    }

    /// Whole seconds since 1970-01-01T00:00:00Z, rounded down.
    package var seconds: Int64 {
        microseconds.floored(dividingBy: 1_000_000)
    }
}
