import Glibc

/// What our output is connected to.
enum Terminal {
    /// The columns of the terminal that stdout is; nil where it is none, or does not tell.
    static var width: Int? {
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return Int(size.ws_col)
    }

    /// Whether somebody sees at once what is written to stderr.
    static var isErrorShown: Bool { isatty(STDERR_FILENO) == 1 }

    /// Asks for something to be typed behind these words.
    static func prompt(_ words: String) {
        let bytes = Array(words.utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// Colours on a terminal alone, and not where NO_COLOR is set (no-color.org).
    static var wantsColor: Bool {
        isatty(STDOUT_FILENO) == 1 && environmentVariable("NO_COLOR").map(\.isEmpty) ?? true
    }
}

/// Prints a line at once, also where stdout is a pipe, which is else written to in large pieces.
func printNow(_ line: String) {
    print(line)
    fflush(nil)
}
