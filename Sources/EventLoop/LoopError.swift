import Glibc

/// A call of the event loop that failed.
package struct LoopError: Error, Hashable, CustomStringConvertible {
    /// What was tried, verb and object: `add timer`, `watch '/etc/killswitchd'`.
    package let call: String
    /// The `errno(3)`, positive.
    package let code: Int32

    package init(_ call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    /// The path is not there, or something on the way to it is no directory.
    package var isNotFound: Bool { code == ENOENT || code == ENOTDIR }

    /// A limit of the host is reached, and room may come later: of inotify watches
    /// (`fs.inotify.max_user_watches`), of inotify instances or of descriptors.
    package var isLimitReached: Bool { code == ENOSPC || code == EMFILE || code == ENFILE }

    package var description: String {
        guard let text = unsafe strerror(code) else { return "\(call): error \(code)" }
        let message = unsafe String(cString: text)
        return "\(call): \(message.prefix(1).lowercased())\(message.dropFirst())"
    }
}

/// Turns the result of a C call into a Swift value or error: systemd's calls return the `errno`
/// negated.
@discardableResult
func check(_ call: String, _ result: Int32) throws(LoopError) -> Int32 {
    guard result >= 0 else { throw LoopError(call, code: -result) }
    return result
}

/// The result of a call of libc, which is -1 and leaves the `errno` aside, in systemd's form.
func negatedError(_ result: Int32) -> Int32 {
    result == -1 ? -errno : result
}
