import CSystemd
import Glibc

/// The user who logged in, by the login uid of a process (pam_loginuid(8)), which sudo(8) and su(1) keep.
///
/// The daemon's sandbox hides the processes of others, so that it cannot look. The peer shows it: it passes its
/// own open `/proc/self/loginuid`, and the kernel answers any process that reads it.
package enum LoginUser {
    package static let file = "/proc/self/loginuid"

    /// The login uid in a file that a peer has passed; nil if that is not the peer's own file, or nobody has
    /// logged in. `socket` is the connection of the peer.
    static func read(_ passed: Int32, of peer: Peer, at socket: Int32) -> UInt32? {
        guard is_on_procfs(passed) != 0, name(of: passed) == "/\(peer.process)/loginuid",
            let login = number(in: passed), login != .max, isRunning(socket)
        else { return nil }
        return login
    }

    /// The last two parts of the path of an open file.
    private static func name(of descriptor: Int32) -> String? {
        var buffer = [CChar](repeating: 0, count: 256)
        let count = unsafe readlink("/proc/self/fd/\(descriptor)", &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        let bytes = buffer[..<count].map { UInt8(truncatingIfNeeded: $0) }
        return String(decoding: bytes, as: UTF8.self).split(separator: "/").suffix(2).map {
            "/\($0)"
        }.joined()
    }

    private static func number(in descriptor: Int32) -> UInt32? {
        var buffer = [UInt8](repeating: 0, count: 16)
        let count = unsafe pread(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? UInt32(String(decoding: buffer[..<count], as: UTF8.self)) : nil
    }

    /// Whether the process that connected still runs: if not, another process may have its ID. A kernel before
    /// Linux 6.5 does not tell; the file is taken at its word then, and the record names the peer's uid too.
    private static func isRunning(_ socket: Int32) -> Bool {
        var descriptor: Int32 = -1
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard unsafe getsockopt(socket, SOL_SOCKET, peerProcessOption, &descriptor, &length) == 0
        else { return errno == ENOPROTOOPT }
        defer { close(descriptor) }
        // It is readable once the process has ended, pidfd_open(2).
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&state, 1, 0) == 0
    }

    /// `SO_PEERPIDFD`, which the headers of Debian 12 do not have.
    private static let peerProcessOption: Int32 = 77
}
