package import CivilTime

/// When the metrics are written: soon after a change, and at most every 5 s.
package struct WritingPace: Hashable, Sendable {
    /// When they are to be written; nil without a reason.
    package private(set) var dueAt: Boottime?
    private var writtenAt: Boottime?

    package init() {}

    /// Something has changed, or a sign of life is due. Returns whether `dueAt` is new. A burst, such as a verdict and
    /// the units that stop by it, is one write a little later.
    package mutating func request(at now: Boottime) -> Bool {
        guard dueAt == nil else { return false }
        let soon = now + Self.delay
        dueAt = writtenAt.map { max(soon, $0 + Self.interval) } ?? soon
        return true
    }

    /// They were written, or could not be.
    package mutating func written(at now: Boottime) {
        dueAt = nil
        writtenAt = now
    }

    private static let interval: Duration = .seconds(5)
    private static let delay: Duration = .milliseconds(200)
}
