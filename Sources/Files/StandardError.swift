import Glibc

/// The standard error of this process.
package enum StandardError {
    /// Whether it leads to what `identity` names, as `DEVICE:INODE`: the form of `JOURNAL_STREAM`
    /// (systemd.exec(5)).
    package static func leads(to identity: String) -> Bool {
        var status = stat()
        guard unsafe fstat(STDERR_FILENO, &status) == 0 else { return false }
        return identity == "\(status.st_dev):\(status.st_ino)"
    }

    /// Writes one line, in one call, so that the lines of several processes do not mix.
    package static func write(line: String) {
        let bytes = Array((line + "\n").utf8)
        // Where stderr cannot be written to, there is nobody to tell.
        _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(2, $0.baseAddress, $0.count) }
    }
}
