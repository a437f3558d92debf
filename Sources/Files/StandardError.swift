import Glibc

/// The standard error of this process.
package enum StandardError {
    /// Writes one line, in one call, so that the lines of several processes do not mix.
    package static func write(line: String) {
        let bytes = Array((line + "\n").utf8)
        // Where stderr cannot be written to, there is nobody to tell.
        _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(2, $0.baseAddress, $0.count) }
    }
}
