import EventLoop

/// Who tells whether the wall clock is synchronised.
package struct ClockSyncProbe {
    /// Nil if it is not known at the moment.
    package var value: () -> Bool?
    /// The clock was set: what was told before is void.
    package var clockWasSet: () -> Void
    /// Somebody contradicts the clock: what was told may be old.
    package var renew: () -> Void

    /// Somebody who tells by these functions.
    package init(
        value: @escaping () -> Bool?, clockWasSet: @escaping () -> Void = {},
        renew: @escaping () -> Void = {}
    ) {
        self.value = value
        self.clockWasSet = clockWasSet
        self.renew = renew
    }

    /// The kernel, at each use.
    package static var kernel: Self { Self(value: { EventLoop.isClockSynchronised }) }
}
