import Glibc
import POSIX

/// Why a file call failed: the operation, the path and the cause.
package struct FileError: Error, Hashable, CustomStringConvertible {
    /// Why the call failed.
    package enum Cause: Hashable, Sendable {
        /// The kernel refused it with this `errno(3)`.
        case system(Int32)
        /// A regular file was expected, and it is a FIFO, a device or a socket.
        case notRegularFile
        case largerThan(Int)
        /// This process holds the lock, in words.
        case lockedBy(String)
        /// This user made the file, and nobody else's would count.
        case ownedBy(UInt32)
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

    /// The `errno(3)`; nil if the kernel refused nothing.
    package var code: Int32? {
        guard case .system(let code) = cause else { return nil }
        return code
    }

    /// The file is not there, or something on the way to it is no directory.
    package var isNotFound: Bool { code == ENOENT || code == ENOTDIR }

    package var isTooLarge: Bool { if case .largerThan = cause { true } else { false } }

    package var isPermissionDenied: Bool { code == EACCES || code == EPERM }

    package var isReadOnly: Bool { code == EROFS }

    package var description: String { "\(operation) '\(path)': \(cause)" }
}

extension FileError.Cause: CustomStringConvertible {
    package var description: String {
        switch self {
        case .system(let code): SystemError.text(of: code)
        case .notRegularFile: "not a regular file"
        case .largerThan(let limit): "larger than \(limit) bytes"
        case .lockedBy(let process): "\(process) holds it"
        case .ownedBy(let user): "it belongs to user \(user)"
        case .malformed: "malformed"
        }
    }
}

/// Makes one system call on a path, and turns its result into a Swift value or error: -1 into the `errno`, with the
/// operation and the path. A call that a signal interrupted is made again. The C string lasts for that call.
@discardableResult
func system<Result: FixedWidthInteger>(
    _ operation: String, _ path: String, _ call: (UnsafePointer<CChar>) -> Result
) throws(FileError) -> Result {
    try refuseNUL(operation, path)
    while true {
        let (result, code) = unsafe path.withCString { path in
            let result = unsafe call(path)
            return (result, errno)
        }
        if result != -1 { return result }
        guard code == EINTR else { throw FileError(operation, path, .system(code)) }
    }
}

/// Refuses a path that holds a NUL: C would act on the part before the NUL.
func refuseNUL(_ operation: String, _ path: String) throws(FileError) {
    if path.utf8.contains(0) { throw FileError(operation, path, .system(EINVAL)) }
}
