import Files
import Glibc

/// The descriptors of this process: how many it may have open, and how many it has.
enum Descriptors {
    /// The most that the daemon asks for. What it needs grows with its sources, and a process with a very high
    /// limit only notices later that it leaks.
    private static let enough: rlim_t = 16_384

    /// Raises the soft limit to the hard one, at most to what is enough for any configuration. Every program
    /// begins with a soft limit of 1,024, for the sake of select(2), which is not used here.
    static func raiseLimit() {
        guard var limit = current, limit.rlim_cur < min(limit.rlim_max, enough) else { return }
        limit.rlim_cur = min(limit.rlim_max, enough)
        // Where a sandbox forbids it, the limit stays as it is.
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    static var limit: Int { Int(clamping: current?.rlim_cur ?? 1024) }

    /// How many it has open; nil if it cannot tell.
    static var used: Int? {
        // The descriptor of the listing itself does not count.
        readable { try Directory.list("/proc/self/fd") }.map { $0.count - 1 }
    }

    private static var current: rlimit? {
        var limit = rlimit()
        let result = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return result == 0 ? limit : nil
    }
}
