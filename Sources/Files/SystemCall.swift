import Glibc

/// Makes one system call on a path: the only place where a C result becomes a Swift value or error.
///
/// A call that a signal interrupted is made again.
/// - Parameters:
///   - operation: The verb of the error's sentence.
///   - path: What the call acts on, handed to `call` as a C string.
///   - call: Returns -1 and sets `errno` when it fails.
/// - Returns: What `call` returned.
/// - Throws: The `errno` of the call, with the operation and the path.
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

/// Refuses a path with a NUL in it, since C would silently act on the part before that.
func refuseNUL(_ operation: String, _ path: String) throws(FileError) {
    let length = unsafe path.withCString { path in unsafe strlen(path) }
    guard length == path.utf8.count else { throw FileError(operation, path, .system(EINVAL)) }
}
