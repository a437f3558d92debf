import CivilTime
import Decision
import EventLoop
import POSIX
import Storage

/// Touches the file `alive` in the runtime directory while there is progress, as often as the watchdog is
/// pinged by default. Readers do without a daemon, and by this file they know that there is one.
final class Heartbeat {
    private unowned let daemon: Daemon
    private let onBeat: () -> Void
    private var timer: Timer?

    /// Gives the first sign: to be there is progress. `onBeat` is called at each sign.
    init(of daemon: Daemon, onBeat: @escaping () -> Void) throws(SystemError) {
        self.daemon = daemon
        self.onBeat = onBeat
        timer = try Timer(daemon.loop, accuracy: .seconds(1)) { [unowned self] in beat() }
        touch()
    }

    /// Gives a sign if there is progress; else looks again soon. After a step of the clock it is due at
    /// once, because readers compare the time of the file with the clock.
    func beat() {
        let hasProgress = daemon.machine.isProgressing(at: daemon.now)
        if hasProgress { touch() } else { timer?.set(at: daemon.loop.now.boot + .seconds(1)) }
    }

    private func touch() {
        onBeat()
        timer?.set(at: daemon.loop.now.boot + Self.interval)
        do {
            try daemon.runtime.touchAlive()
            daemon.findings.set(.runtimeDirectory, FileName.alive, to: nil)
        } catch {
            daemon.findings.set(.runtimeDirectory, FileName.alive, to: "\(error); retrying")
        }
    }

    private static let interval: Duration = .seconds(30)
}
