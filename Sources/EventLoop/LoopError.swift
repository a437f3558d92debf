import Glibc

/// Why a call of the event loop failed: what was tried, and the errno(3) it gave.
package struct LoopError: Error, Hashable, CustomStringConvertible {
    /// The verb and its object, as a person says it: `add timer`.
    package let call: String
    package let code: Int32

    package init(_ call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    package var description: String {
        var text = unsafe String(cString: strerror(code))
        if let first = text.first { text = first.lowercased() + text.dropFirst() }
        return "\(call): \(text)"
    }
}

/// The result of a call that returns a negative errno(3) when it fails: libsystemd's.
@discardableResult
func valueOrError(_ call: String, _ result: Int32) throws(LoopError) -> Int32 {
    guard result >= 0 else { throw LoopError(call, code: -result) }
    return result
}

/// The result of a call that returns -1 and sets errno(3) when it fails: libc's.
@discardableResult
func valueOrErrno(_ call: String, _ result: Int32) throws(LoopError) -> Int32 {
    guard result >= 0 else { throw LoopError(call, code: errno) }
    return result
}
