import Glibc
import Testing

/// Starts `/bin/sh -c script` and returns its process ID; the caller has to reap it. Every signal has its
/// default action there.
func startShell(_ script: String) throws -> Int32 {
    let words: [String] = ["/bin/sh", "-c", script]
    let arguments = unsafe words.map { unsafe strdup($0) }
    defer { unsafe arguments.forEach { unsafe free($0) } }
    var all = sigset_t()
    unsafe sigfillset(&all)
    var none = sigset_t()
    unsafe sigemptyset(&none)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setflags(
        &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    var process: pid_t = 0
    let code = unsafe posix_spawn(
        &process, "/bin/sh", nil, &attributes, arguments + [nil], environ)
    try #require(code == 0, "start a shell: errno \(code)")
    return process
}

/// Two connected sockets. They are close-on-exec from the start, so that no shell of another test holds
/// one open.
func makePair() throws -> (Int32, Int32) {
    let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
    var ends: [Int32] = [-1, -1]
    let result = unsafe socketpair(AF_UNIX, Int32(kind), 0, &ends)
    try #require(result == 0)
    return (ends[0], ends[1])
}

/// Reads at most one byte: 1 for a byte, 0 at the end, -1 if nothing is there yet.
func readByte(_ descriptor: Int32) -> Int {
    var byte: UInt8 = 0
    return unsafe read(descriptor, &byte, 1)
}

/// Writes the whole text to a descriptor.
func writeAll(_ descriptor: Int32, _ text: String) {
    let bytes = Array(text.utf8)
    #expect(unsafe write(descriptor, bytes, bytes.count) == bytes.count)
}
