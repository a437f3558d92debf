import CSystemd
import CivilTime
import POSIX

/// Gives freed memory back to the system after something large was read: the C library would keep it. It waits a
/// second, until what was read is in use or dropped.
package final class HeapTrimmer {
    private let loop: EventLoop
    private var timer: Timer?
    /// Whether the timer runs. What is read meanwhile does not put it off.
    private var isDue = false
    private var sizeInUse = 0

    /// From this size on, in bytes, it is worth the time: about a millisecond.
    private static let large = 256 << 10

    package init(_ loop: EventLoop) { self.loop = loop }

    /// Notes that this many bytes were read, and gives memory back soon if they are many. `isUsed`: they take the place
    /// of what was in use, so that memory is also given back if that was large.
    package func bytesRead(_ count: Int, isUsed: Bool) {
        let freed = isUsed ? sizeInUse : 0
        if isUsed { sizeInUse = count }
        guard max(count, freed) >= Self.large, !isDue else { return }
        do throws(SystemError) {
            if timer == nil {
                timer = try Timer(loop, accuracy: .milliseconds(250)) { [unowned self] in
                    isDue = false
                    _ = malloc_trim(0)
                }
            }
            timer?.set(at: loop.now.boot + .seconds(1))
            isDue = true
        } catch {
            // The memory is given back after a later answer.
        }
    }
}
