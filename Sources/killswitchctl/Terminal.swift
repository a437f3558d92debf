import Glibc

/// What stdout is connected to.
enum Terminal {
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
