import Files
import Glibc

/// Our own two programs, as they were built with the tests.
package enum Programs {
    package static func path(of name: String) throws -> String {
        let path = "\(try folder())/\(name)"
        guard unsafe access(path, X_OK) == 0 else { throw TestFailure("find '\(path)'") }
        return path
    }

    /// The folder in which the tests were built.
    package static func folder() throws -> String {
        for argument in CommandLine.arguments where argument.contains(".xctest") {
            let folder = argument.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            return folder.joined(separator: "/")
        }
        throw TestFailure("find the tests; arguments: \(CommandLine.arguments)")
    }

    /// The path of a file of `Tests/Support`, by its path in there.
    package static func file(_ name: String) -> String {
        let folder = #filePath.split(separator: "/").dropLast().joined(separator: "/")
        return "/\(folder)/\(name)"
    }
}
