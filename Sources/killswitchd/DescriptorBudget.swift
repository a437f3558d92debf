import ControlSocket
import Decision
import Files
import Glibc

/// The descriptors of this process: how many it may have open, how many it has, and how many it keeps for its
/// work, so that no number of clients at the control socket takes them.
enum DescriptorBudget {
    /// The most that the daemon asks for. What it needs grows with its sources, and a process with a very high
    /// limit only notices later that it leaks.
    private static let enough: rlim_t = 16_384

    /// Raises the soft limit to the hard one, at most to what is enough for any configuration. Every program
    /// begins with a soft limit of 1,024, for the sake of select(2), which is not used here.
    static func raise() {
        guard var limit = current, limit.rlim_cur < min(limit.rlim_max, enough) else { return }
        limit.rlim_cur = min(limit.rlim_max, enough)
        // Where a sandbox forbids it, the limit stays as it is, and there are fewer places for clients.
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    static var limit: Int { Int(clamping: current?.rlim_cur ?? 1024) }

    /// How many it has open; nil if it cannot tell.
    static var used: Int? {
        // The descriptor of the listing itself does not count.
        readable { try Directory.list("/proc/self/fd") }.map { $0.count - 1 }
    }

    /// The limits of the control socket where the daemon follows the sources of a plan.
    static func socketLimits(beside plan: Plan) -> ServerLimits {
        let places = plan.sources.reduce(0) { $0 + max(1, $1.mirrors.count) }
        return ServerLimits(within: limit - own - places * each)
    }

    /// For the loop, timers, signals, inotify, the bus, the journal, the service manager, and files in use.
    private static let own = 64
    /// For a source, or for each of its mirrors: a poll, a stream, and new connections beside those that are being
    /// closed.
    private static let each = 4

    private static var current: rlimit? {
        var limit = rlimit()
        let result = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return result == 0 ? limit : nil
    }
}
