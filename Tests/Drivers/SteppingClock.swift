import CivilTime
import EventLoop
import Glibc

/// The kernel's timer, with which a test reports a step of the clock or lets the timer fire.
final class SteppingClock {
    private var descriptor: Int32 = -1
    private var isStepped = false

    var kernel: WallTimer.Kernel {
        let real = WallTimer.Kernel.real
        return WallTimer.Kernel(
            set: { [unowned self] descriptor, instant in
                self.descriptor = descriptor
                return real.set(descriptor, instant)
            },
            read: { [unowned self] descriptor in
                let code = real.read(descriptor)
                guard isStepped else { return code }
                isStepped = false
                return ECANCELED
            })
    }

    /// Reports a step of the clock.
    func step() {
        isStepped = true
        expire()
    }

    /// The timer fires now.
    func expire() {
        _ = WallTimer.Kernel.real.set(descriptor, Instant(seconds: 1))
    }
}
