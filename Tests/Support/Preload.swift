import Files

/// A library that stands between a program and the C libraries that it calls, so that a call fails or
/// takes its time: how a test puts a fault into a program that ships. Compiled from C, gone with the
/// object.
package final class Preload {
    private let folder: TemporaryFolder

    /// Compiles `source` to a library of this name.
    package init(_ name: String, _ source: String) throws {
        folder = try TemporaryFolder()
        path = folder("\(name).so")
        try folder.write(source, to: "\(name).c")
        let compiled = try Program.run(
            "/usr/bin/gcc",
            ["-shared", "-fPIC", "-O", "-Wall", "-Werror", "-o", path, folder("\(name).c")])
        guard compiled.status == 0 else { throw TestFailure("compile: \(compiled.errors)") }
    }

    /// The library, for LD_PRELOAD.
    package let path: String

    /// The path of a file beside the library, which it may read while the program runs.
    package func file(_ name: String) -> String { folder(name) }

    /// Replaces a file beside the library.
    package func write(_ text: String, to name: String) throws {
        try folder.write(text, to: name)
    }
}
