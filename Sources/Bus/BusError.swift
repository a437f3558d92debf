/// What the bus, or somebody on it, answered instead of a result.
package struct BusError: Error, Hashable, CustomStringConvertible {
    /// What was tried, verb and object.
    package let call: String
    /// The name on the bus, such as `org.freedesktop.DBus.Error.AccessDenied`; nil where it is ours.
    package let name: String?
    package let message: String

    package var description: String { "\(call): \(message)" }
}
