/// A virtual environment of a test's own, with packages of the public index.
package final class PythonEnvironment {
    private let folder: TemporaryFolder

    /// Installs these packages, each with its version.
    package init(_ packages: String...) throws {
        folder = try TemporaryFolder()
        let steps = [
            ("/usr/bin/python3", ["-m", "venv", folder.path]),
            (
                folder("bin/pip"),
                ["install", "--quiet", "--no-cache-dir", "--disable-pip-version-check"] + packages
            ),
        ]
        for (program, arguments) in steps {
            let result = try Program.run(program, arguments)
            guard result.status == 0 else {
                throw TestFailure("make a Python environment: \(result.errors)")
            }
        }
    }

    /// Runs a script to its end.
    package func run(_ script: String, _ arguments: String...) throws -> Program.Result {
        try Program.run(folder("bin/python"), [script] + arguments)
    }
}
