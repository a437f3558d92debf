import Files
import Glibc

/// Our own two programs, as they were built with the tests.
package enum Programs {
    package static func path(of name: String) throws -> String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        _ = count
        for argument in CommandLine.arguments where argument.contains(".xctest") {
            let folder = argument.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            let path = (folder + [Substring(name)]).joined(separator: "/")
            if unsafe access(path, X_OK) == 0 { return path }
        }
        throw TestFailure("find '\(name)' beside the tests; arguments: \(CommandLine.arguments)")
    }
}
