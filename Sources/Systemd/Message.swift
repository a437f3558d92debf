import CSystemd
import Glibc

/// A message that was received, read from front to back, and kept for as long as this object lives.
@safe
package final class Message {
    private let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) {
        unsafe self.pointer = pointer
        unsafe sd_bus_message_ref(pointer)
    }

    deinit { unsafe sd_bus_message_unref(pointer) }

    /// The object that it comes from.
    package var path: String {
        guard let path = unsafe sd_bus_message_get_path(pointer) else { return "" }
        return unsafe String(cString: path)
    }

    /// The unique name of the connection that has sent it, or the bus; nil if it did not come over a bus.
    var sender: String? {
        guard let sender = unsafe sd_bus_message_get_sender(pointer) else { return nil }
        return unsafe String(cString: sender)
    }

    /// The error in this message; nil if it is a result. `call` is the purpose, verb and object.
    func failure(of call: String) -> BusError? {
        guard unsafe sd_bus_message_is_method_error(pointer, nil) > 0,
            let error = unsafe sd_bus_message_get_error(pointer)
        else { return nil }
        let name = unsafe error.pointee.name.map { unsafe String(cString: $0) }
        let text = unsafe error.pointee.message.map { unsafe String(cString: $0) }
        return BusError(call: call, name: name, message: text ?? name ?? "no reason given")
    }

    /// The next value, a string, an object path or a signature.
    package func text(_ letter: Unicode.Scalar = "s") throws(BusError) -> String {
        let text = try unsafe read(letter, over: UnsafePointer<CChar>?.none)
        return unsafe text.map { unsafe String(cString: $0) } ?? ""
    }

    /// The next value, a Boolean.
    package func bool() throws(BusError) -> Bool { try read("b", over: Int32(0)) != 0 }

    /// The next value, unsigned, of 32 bits.
    package func uint32() throws(BusError) -> UInt32 { try read("u", over: 0) }

    /// The next value, unsigned, of 64 bits.
    package func uint64() throws(BusError) -> UInt64 { try read("t", over: 0) }

    /// The content by `read`; nil if the message does not have what `read` expects.
    package func content<Content>(_ read: (Message) throws -> Content?) -> Content? {
        do { return try read(self) } catch { return nil }
    }

    /// Passes over values of these types.
    package func skip(_ types: String) throws(BusError) {
        try check(Self.purpose, unsafe sd_bus_message_skip(pointer, types))
    }

    /// Reads inside the next array, structure, dictionary entry or variant.
    package func inside<Result>(
        _ letter: Unicode.Scalar, _ contents: String?, _ read: () throws(BusError) -> Result
    ) throws(BusError) -> Result {
        try check(
            Self.purpose, unsafe sd_bus_message_enter_container(pointer, type(letter), contents))
        let result = try read()
        try check(Self.purpose, unsafe sd_bus_message_exit_container(pointer))
        return result
    }

    /// Reads each element of the next array.
    package func each(_ contents: String, _ read: () throws(BusError) -> Void) throws(BusError) {
        try inside("a", contents) { () throws(BusError) in
            while try !isAtEnd() { try read() }
        }
    }

    /// The next value, an array of strings.
    package func texts() throws(BusError) -> [String] {
        var texts: [String] = []
        try each("s") { () throws(BusError) in texts.append(try text()) }
        return texts
    }

    /// The next value, a dictionary of variants: `read` gets each name, and says whether it has read the content.
    package func properties(_ read: (String) throws(BusError) -> Bool) throws(BusError) {
        try each("{sv}") { () throws(BusError) in
            try inside("e", "sv") { () throws(BusError) in
                if try !read(try text()) { try skip("v") }
            }
        }
    }

    private func isAtEnd() throws(BusError) -> Bool {
        try check(Self.purpose, unsafe sd_bus_message_at_end(pointer, 0)) > 0
    }

    /// Reads a value of a basic type over an empty one.
    private func read<Value>(
        _ letter: Unicode.Scalar, over empty: Value
    ) throws(BusError) -> Value {
        var value = empty
        let result = unsafe withUnsafeMutablePointer(to: &value) {
            unsafe sd_bus_message_read_basic(pointer, type(letter), $0)
        }
        guard result > 0 else { throw BusError(Self.purpose, code: result < 0 ? -result : EBADMSG) }
        return value
    }

    private static let purpose = "read a message of the bus"
}
