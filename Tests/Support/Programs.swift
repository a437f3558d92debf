import Files
import Glibc

/// The two programs of `make build`: the same bytes that the package installs.
package enum Programs {
    /// The path of a program. The tests do not build it, so that a missing program is an error.
    package static func path(of name: String) throws -> String {
        let path = "\(folder)/\(name)"
        guard unsafe access(path, X_OK) == 0 else {
            throw TestFailure("find '\(path)': type 'make build' first")
        }
        return path
    }

    package static func run(
        _ name: String, _ arguments: [String], environment: [String: String] = [:]
    ) throws -> Program.Result {
        try Program.run(try path(of: name), arguments, environment: environment)
    }

    /// The folder of the programs: `.build/release`, or what KILLSWITCHD_PROGRAMS names, such as
    /// programs that are built with a sanitizer.
    package static let folder: String = {
        guard let named = unsafe getenv("KILLSWITCHD_PROGRAMS") else {
            return "\(project)/.build/release"
        }
        return unsafe String(cString: named)
    }()

    /// The folder of the package and of an older one: `build`, or what KILLSWITCHD_PACKAGES names.
    package static let packages: String = {
        guard let named = unsafe getenv("KILLSWITCHD_PACKAGES") else { return "\(project)/build" }
        return unsafe String(cString: named)
    }()

    /// Whether the tests run the programs of `make build`.
    package static var areShipped: Bool { folder == "\(project)/.build/release" }

    package static let project =
        "/" + "\(#filePath)".split(separator: "/").dropLast(3).joined(separator: "/")

    package static func text(of path: String) throws -> String {
        String(decoding: try File.read("\(project)/\(path)", limit: 1 << 20), as: UTF8.self)
    }

    /// Writes a file of the project that is made from a table.
    package static func write(_ text: some StringProtocol, to path: String) throws {
        try File.replace("\(project)/\(path)", with: Array(text.utf8))
    }

    /// The version of both programs.
    package static func version() throws -> String { try version([]) }

    /// The version of the package of `make deb`.
    package static func packageVersion() throws -> String { try version(["deb"]) }

    private static func version(_ arguments: [String]) throws -> String {
        String(try Program.succeed("\(project)/packaging/version", arguments).dropLast())
    }

    /// The path of a file of `Tests/Support`, by its path in there.
    package static func file(_ name: String) -> String { "\(project)/Tests/Support/\(name)" }
}

/// The user who runs the tests, as the daemon names the author of an order: `root (uid 0)`.
package let ownUser: String = {
    let user = getuid()
    guard let entry = unsafe getpwuid(user), let name = unsafe entry.pointee.pw_name else {
        return "uid \(user)"
    }
    return "\(unsafe String(cString: name)) (uid \(user))"
}()
