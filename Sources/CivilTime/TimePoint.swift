/// A point on a time axis, in whole microseconds since the axis began.
///
/// The axis is a phantom type, so that times of the wall clock and of the boot clock cannot be compared
/// by mistake. Arithmetic saturates at the ends of the range instead of trapping.
package struct TimePoint<Axis>: Hashable, Comparable, Sendable {
    /// Microseconds since the axis began; negative before.
    package var microseconds: Int64

    @inlinable package init(microseconds: Int64) { self.microseconds = microseconds }

    // Inlined in other modules, which compare very often; the generic `<=` would look up `<` at run time.

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

    /// The point that is `distance` later.
    @inlinable package static func + (point: Self, distance: Duration) -> Self {
        Self(microseconds: point.microseconds.addingSaturated(distance.microseconds))
    }

    /// The point that is `distance` earlier.
    @inlinable package static func - (point: Self, distance: Duration) -> Self {
        Self(microseconds: point.microseconds.subtractingSaturated(distance.microseconds))
    }

    /// How much later `left` is than `right`; negative if it is earlier.
    @inlinable package static func - (left: Self, right: Self) -> Duration {
        .microseconds(left.microseconds.subtractingSaturated(right.microseconds))
    }
}

/// The axis of `CLOCK_REALTIME`: microseconds since 1970-01-01T00:00:00Z. The clock can be set, so it can step.
package enum WallClock {}

/// The axis of `CLOCK_BOOTTIME`: microseconds since boot, suspend included. It never steps.
package enum BootClock {}

/// The axis of `CLOCK_MONOTONIC`: microseconds since boot, without suspend, as in systemd's time stamps of units.
package enum MonotonicClock {}

/// An instant of civil time.
package typealias Instant = TimePoint<WallClock>

/// A time of this boot, suspend included.
package typealias Boottime = TimePoint<BootClock>

/// A time of this boot without suspend, as systemd's time stamps of units.
package typealias Uptime = TimePoint<MonotonicClock>

extension TimePoint where Axis == WallClock {
    /// The instant that is this many whole seconds after 1970-01-01T00:00:00Z.
    package init(seconds: Int64) {
        self.init(microseconds: seconds.multipliedSaturated(by: 1_000_000))
    }

    /// Whole seconds since 1970-01-01T00:00:00Z, rounded down.
    package var seconds: Int64 { microseconds.floored(dividingBy: 1_000_000) }
}

extension Duration {
    /// Whole microseconds, rounded towards zero and saturated. `components` would cost two divisions of 128 bits.
    @inlinable package var microseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000_000) }

    /// Whole seconds, rounded down.
    @inlinable package var wholeSeconds: Int64 {
        let (seconds, attoseconds) = components
        return attoseconds < 0 ? seconds.subtractingSaturated(1) : seconds
    }
}

extension Int64 {
    /// The sum, clamped to the range.
    @inlinable func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, clamped to the range.
    @inlinable func subtractingSaturated(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }

    /// The product, clamped to the range.
    @inlinable func multipliedSaturated(by other: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }
}

extension SignedInteger {
    /// The quotient by a positive divisor, rounded towards negative infinity.
    func floored(dividingBy divisor: Self) -> Self {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// The remainder of `floored(dividingBy:)`: at least 0 and less than the positive divisor.
    func remainder(flooredBy divisor: Self) -> Self {
        let remainder = self % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}
