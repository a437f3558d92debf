import Files
import Glibc

/// Our own two programs as `make build` leaves them: the same bytes that the package installs.
package enum Programs {
    /// The path of one of them. Nothing builds it for the tests, so a missing program is an error.
    package static func path(of name: String) throws -> String {
        let path = "\(folder)/\(name)"
        guard unsafe access(path, X_OK) == 0 else {
            throw TestFailure("find '\(path)': type 'make build' first")
        }
        return path
    }

    /// The folder of the programs: `.build/release`, or what KILLSWITCHD_PROGRAMS names, such as
    /// programs that are built with a sanitizer.
    package static let folder: String = {
        guard let named = unsafe getenv("KILLSWITCHD_PROGRAMS") else {
            return "\(project)/.build/release"
        }
        return unsafe String(cString: named)
    }()

    /// Whether the tests run what `make build` has left.
    package static var areShipped: Bool { folder == "\(project)/.build/release" }

    /// The folder of the project.
    package static let project =
        "/" + "\(#filePath)".split(separator: "/").dropLast(3).joined(separator: "/")

    /// The version that both programs and the package are to have.
    package static func version() throws -> String {
        String(try Program.run("\(project)/packaging/version", []).output.dropLast())
    }

    /// The path of a file of `Tests/Support`, by its path in there.
    package static func file(_ name: String) -> String { "\(project)/Tests/Support/\(name)" }
}
