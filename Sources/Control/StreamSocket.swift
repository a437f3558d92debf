import Datagrams
import Glibc

/// A stream socket of this host, unix(7), closed together with this object.
final class StreamSocket {
    let descriptor: Int32
    private let path: String

    /// A new one. `path` is named in errors.
    init(_ path: String, flags: Int32 = 0) throws(SocketError) {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | flags
        let descriptor = Glibc.socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { throw SocketError("make a socket for", path, .system(errno)) }
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }

    func connect() throws(SocketError) {
        try unsafe onAddress("connect to", path) { address, length in
            unsafe Glibc.connect(descriptor, address, length)
        }
    }

    /// Listens at `path`, open to everybody from the moment that it is there: it is made under a hidden
    /// name, and takes its own by `rename(2)`, also from a socket that nobody listens at any more.
    func listen(backlog: Int32) throws(SocketError) {
        try makeRoom()
        let hidden = path + ".new"
        unsafe unlink(hidden)
        try unsafe onAddress("listen at", hidden) { address, length in
            unsafe bind(descriptor, address, length)
        }
        let isThere =
            unsafe chmod(hidden, 0o666) == 0 && Glibc.listen(descriptor, backlog) == 0
            && rename(hidden, path) == 0
        guard isThere else {
            let code = errno
            unsafe unlink(hidden)
            throw SocketError("listen at", path, .system(code))
        }
    }

    /// Throws where something is at the path that is not ours to replace.
    private func makeRoom() throws(SocketError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw SocketError("listen at", path, .notASocket)
        }
        let probe = try StreamSocket(path, flags: Int32(SOCK_NONBLOCK.rawValue))
        do {
            try probe.connect()
        } catch {
            if error.isNobodyThere { return }
        }
        throw SocketError("listen at", path, .taken)
    }

    private func onAddress(
        _ operation: String, _ path: String,
        _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(SocketError) {
        let code = unsafe SocketAddress.path(path).withKernelForm { address, length in
            unsafe call(address, length) == 0 ? 0 : errno
        }
        guard let code else { throw SocketError(operation, path, .tooLong) }
        guard code == 0 else { throw SocketError(operation, path, .system(code)) }
    }
}
