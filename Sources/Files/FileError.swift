import Glibc

/// Why a file call failed: what was tried, on which path, and the cause.
package struct FileError: Error, Hashable, CustomStringConvertible {
    /// What stood in the way.
    package enum Cause: Hashable, Sendable {
        /// The kernel's own word for it, an `errno(3)`.
        case system(Int32)
        /// There is a FIFO, a device or a socket where a regular file was wanted.
        case notRegularFile
        /// The file holds more than this many bytes.
        case largerThan(Int)
        /// Another open descriptor holds the lock.
        case lockedByAnother
        /// The content is not of the documented form.
        case malformed
    }

    /// The verb, as a person says it: `open`, `rename`.
    package let operation: String
    package let path: String
    package let cause: Cause

    package init(_ operation: String, _ path: String, _ cause: Cause) {
        self.operation = operation
        self.path = path
        self.cause = cause
    }

    /// The `errno(3)`, where the kernel gave one.
    package var code: Int32? {
        guard case .system(let code) = cause else { return nil }
        return code
    }

    /// No such file, or a folder on the way to it is missing or not a folder.
    package var isNotFound: Bool { code == ENOENT || code == ENOTDIR }

    /// The file holds more than the limit that was given.
    package var isTooLarge: Bool {
        if case .largerThan = cause { true } else { false }
    }

    /// Somebody who may do more could have done it.
    package var isPermissionDenied: Bool { code == EACCES || code == EPERM }

    /// No space left on the file system, or none left of the user's quota.
    package var isStorageFull: Bool { code == ENOSPC || code == EDQUOT }

    package var description: String {
        "\(operation) '\(path)': \(cause)"
    }
}

extension FileError.Cause: CustomStringConvertible {
    package var description: String {
        switch self {
        case .system(let code): systemMessage(code)
        case .notRegularFile: "not a regular file"
        case .largerThan(let limit): "larger than \(limit) bytes"
        case .lockedByAnother: "locked by another process"
        case .malformed: "malformed"
        }
    }
}

/// The text of `strerror(3)`, its first letter in lower case so that it can end a sentence.
private func systemMessage(_ code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    let message = unsafe String(cString: text)
    return message.prefix(1).lowercased() + message.dropFirst()
}
