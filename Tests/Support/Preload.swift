import Files

/// A library for LD_PRELOAD that makes calls of C libraries fail or delays them, so that a test injects
/// a fault into a shipped program. It is compiled from C, and removed with the object.
package final class Preload {
    private let folder: TemporaryFolder

    /// Compiles `source` to a library of this name.
    package init(_ name: String, _ source: String) throws {
        folder = try TemporaryFolder()
        path = folder("\(name).so")
        try folder.write(source, to: "\(name).c")
        try Program.succeed(
            "/usr/bin/gcc",
            ["-shared", "-fPIC", "-O", "-Wall", "-Werror", "-o", path, folder("\(name).c")])
    }

    /// The library, for LD_PRELOAD.
    package let path: String

    /// The path of a file beside the library, which the library may read.
    package func file(_ name: String) -> String { folder(name) }

    /// Replaces a file beside the library.
    package func write(_ text: String, to name: String) throws {
        try folder.write(text, to: name)
    }
}
