import CSystemd
import CivilTime
import Faults

/// Gives freed memory back to the system after something large was read: the C library keeps it otherwise,
/// so that the process stays as large as it ever was.
///
/// It waits a second, until what was read is in use or dropped.
package final class MemoryReturn {
    private let loop: EventLoop
    private var timer: Timer?

    /// From this size on, in bytes, it is worth the time: about a millisecond.
    private static let large = 256 << 10

    /// Nothing is given back yet.
    package init(_ loop: EventLoop) { self.loop = loop }

    /// Gives memory back soon, if this many bytes are much.
    package func note(_ count: Int) {
        guard count >= Self.large else { return }
        do throws(SystemError) {
            if timer == nil {
                timer = try Timer(loop, accuracy: .milliseconds(250)) { _ = malloc_trim(0) }
            }
            timer?.set(at: loop.now.boot + .seconds(1))
        } catch {
            // The memory is given back after a later answer.
        }
    }
}
