import Files
import Glibc

/// A virtual environment of Python that holds the official client for servers of Firebase, the public clients of
/// Varlink and of OpenFeature, and a server of OpenFeature's protocol. Made once, in `.build`, from
/// `Python/requirements.txt`.
package struct PythonEnvironment: Sendable {
    package let python: String

    /// The environment, which the first call makes.
    package static func ready() throws -> PythonEnvironment { try shared.get() }

    private static let shared = Result { try PythonEnvironment() }

    private init() throws {
        let requirements = Programs.file("Python/requirements.txt")
        let name = try Self.name(for: requirements)
        let place = "\(Programs.project)/.build/\(name)"
        python = "\(place)/bin/python3"
        if try File.exists(python) { return }
        // It is made under another name and renamed at the end, so that no incomplete one is used.
        let unfinished = "\(place).\(getpid())"
        let environment = Self.environment
        try Program.succeed(
            "/usr/bin/python3", ["-m", "venv", unfinished], environment: environment)
        try Program.succeed(
            "\(unfinished)/bin/python3",
            ["-m", "pip", "install", "--quiet", "--requirement", requirements],
            environment: environment)
        try File.rename(unfinished, to: place)
    }

    /// The name depends on the requirements, so that a change makes another environment.
    private static func name(for requirements: String) throws -> String {
        let text = String(decoding: try File.read(requirements, limit: 1 << 16), as: UTF8.self)
        let words = text.split { !$0.isLetter && !$0.isNumber }
        return "python-\(words.joined(separator: "-"))"
    }

    /// The environment variables of this process: they may name the package index.
    private static var environment: [String: String] {
        var variables: [String: String] = [:]
        var next = unsafe environ
        while let entry = unsafe next.pointee {
            let pair = unsafe String(cString: entry).split(separator: "=", maxSplits: 1)
            if pair.count == 2 { variables[String(pair[0])] = String(pair[1]) }
            unsafe next += 1
        }
        return variables
    }
}
