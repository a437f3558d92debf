import Glibc

/// A call on the journal's files that failed.
package struct JournalError: Error, Hashable, CustomStringConvertible {
    /// What was tried, verb and object.
    package let call: String
    /// The `errno(3)`, positive.
    package let code: Int32

    package var description: String {
        guard let text = unsafe strerror(code) else { return "\(call): error \(code)" }
        let message = unsafe String(cString: text)
        return "\(call): \(message.prefix(1).lowercased())\(message.dropFirst())"
    }
}

/// Turns the result of a call of libsystemd, the `errno` negated, into a Swift value or error.
@discardableResult
func check(_ call: String, _ result: Int32) throws(JournalError) -> Int32 {
    guard result >= 0 else { throw JournalError(call: call, code: -result) }
    return result
}
