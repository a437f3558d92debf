import ArgumentParser
import Files
import Glibc
import JSON
import POSIX

/// `killswitchctl write-motd`, the program of killswitchd-motd.service: writes the newest datagram to `/run/motd.d`.
///
/// It runs as root, and the daemon may be in foreign hands. So it opens nothing of the daemon, the text has a limit,
/// and nothing in it can move the cursor or change a color.
struct WriteMotd: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "write-motd",
        abstract: "Write what people are told who log in; killswitchd-motd.service does that.",
        shouldDisplay: false)

    func run() throws {
        while let text = try newestText() {
            try File.replace(Self.path, with: Array(text.utf8))
            // One process for a series of changes: the daemon sends a text every second or two.
            _ = poll(nil, 0, 3000)
        }
    }

    /// The text of the newest datagram, safe for a terminal; nil if no datagram waits.
    private func newestText() throws -> String? {
        // What is longer is cut by the kernel.
        var buffer = [UInt8](repeating: 0, count: 8 << 10)
        var newest: [UInt8]?
        while true {
            let count = unsafe recv(STDIN_FILENO, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count >= 0 {
                newest = Array(buffer.prefix(count))
            } else if errno == EAGAIN {
                break
            } else if errno != EINTR {
                throw SystemError("receive the text at stdin", code: errno)
            }
        }
        return newest.map { bytes in
            String(decoding: bytes, as: UTF8.self).split(separator: "\n").prefix(Self.mostLines)
                .map { "\(String($0).printable(limit: 250))\n" }.joined()
        }
    }

    /// The file that pam_motd(8) shows.
    private static let path = "/run/motd.d/killswitchd"
    /// The daemon sends so many at most.
    private static let mostLines = 12
}
