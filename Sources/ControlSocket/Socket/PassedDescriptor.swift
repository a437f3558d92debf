import Glibc

/// A descriptor that one end of a socket passes to the other beside its bytes: `SCM_RIGHTS` of unix(7).
enum PassedDescriptor {
    /// Sends bytes, and an open descriptor with the first of them; as send(2).
    static func send(_ bytes: UnsafeRawBufferPointer, with passed: Int32, to socket: Int32) -> Int {
        var control = Control(level: SOL_SOCKET, type: Int32(SCM_RIGHTS), descriptor: passed)
        return unsafe message(
            UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count, &control
        ) { message in unsafe sendmsg(socket, message, Int32(MSG_NOSIGNAL)) }
    }

    /// Receives without waiting; as recv(2). The caller closes the `descriptor`, and the kernel all further ones.
    static func receive(
        _ buffer: inout [UInt8], from socket: Int32
    ) -> (count: Int, descriptor: Int32?) {
        var control = Control(level: 0, type: 0, descriptor: -1)
        let count = unsafe buffer.withUnsafeMutableBytes { buffer in
            unsafe message(buffer.baseAddress, buffer.count, &control) { message in
                unsafe recvmsg(socket, message, Int32(MSG_DONTWAIT) | Int32(MSG_CMSG_CLOEXEC))
            }
        }
        let isPassed =
            count >= 0 && control.level == SOL_SOCKET && control.type == Int32(SCM_RIGHTS)
        return (count, isPassed && control.descriptor >= 0 ? control.descriptor : nil)
    }

    /// A `struct cmsghdr` with one descriptor behind it, which Swift does not import as one.
    private struct Control {
        var length = MemoryLayout<Int>.size + 3 * MemoryLayout<Int32>.size
        var level: Int32
        var type: Int32
        var descriptor: Int32
    }

    /// Calls `body` with a message of these bytes and this control message.
    private static func message(
        _ bytes: UnsafeMutableRawPointer?, _ count: Int, _ control: inout Control,
        _ body: (UnsafeMutablePointer<msghdr>) -> Int
    ) -> Int {
        var piece = unsafe iovec(iov_base: bytes, iov_len: count)
        let length = control.length
        return unsafe withUnsafeMutablePointer(to: &piece) { piece in
            unsafe withUnsafeMutablePointer(to: &control) { control in
                var message = unsafe msghdr()
                unsafe message.msg_iov = piece
                unsafe message.msg_iovlen = 1
                unsafe message.msg_control = UnsafeMutableRawPointer(control)
                // Exactly one descriptor: the padding behind it would be room for another.
                unsafe message.msg_controllen = length
                return unsafe body(&message)
            }
        }
    }
}
