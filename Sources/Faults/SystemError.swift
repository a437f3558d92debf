import Glibc

/// A call of the kernel, the C library or libsystemd that failed.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The verb and object of the call: `add timer`, `watch '/etc/killswitchd'`.
    package let call: String
    /// The `errno(3)`, positive.
    package let code: Int32

    /// The failure of `call`; `code` is a positive `errno(3)`.
    package init(_ call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    /// Turns the result of a call of libsystemd, which returns the `errno` negated, into a value or
    /// an error.
    @discardableResult
    package static func check(_ call: String, _ result: Int32) throws(SystemError) -> Int32 {
        guard result >= 0 else { throw SystemError(call, code: -result) }
        return result
    }

    /// The result of a call of the C library, which is -1 and sets `errno` if it fails, in the
    /// form that `check` takes.
    package static func negated(_ result: Int32) -> Int32 { result == -1 ? -errno : result }

    /// The path is not there, or something on the way to it is no directory.
    package var isNotFound: Bool { code == ENOENT || code == ENOTDIR }

    /// The receiver takes no more now: it is slow, stopped or frozen.
    package var isReceiverFull: Bool { code == EAGAIN || code == ENOBUFS }

    package var description: String { "\(call): \(Self.text(of: code))" }

    /// The text of strerror(3) for an `errno(3)`, its first letter in lower case so that it can end
    /// a sentence.
    package static func text(of code: Int32) -> String {
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        let message = unsafe String(cString: text)
        return message.prefix(1).lowercased() + message.dropFirst()
    }
}
