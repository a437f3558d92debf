import Files
import Glibc

/// A temporary folder, which is removed with the object, also when the test fails.
package final class TemporaryFolder {
    package let path: String

    package init() throws {
        var template = Array("/tmp/killswitchd-test.XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw TestFailure("make a temporary folder: errno \(errno)")
        }
        path = String(
            decoding: template.dropLast().map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    }

    deinit { removeTree(path) }

    package func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

    /// Replaces a file in the folder by rename.
    package func write(_ text: String, to name: String) throws {
        try File.replace(self(name), with: Array(text.utf8))
    }

    package func link(_ target: String, as name: String) throws {
        guard unsafe symlink(target, self(name)) == 0 else {
            throw TestFailure("link '\(self(name))': errno \(errno)")
        }
    }

    package func text(of name: String) throws -> String {
        String(decoding: try File.read(self(name), limit: 1 << 26), as: UTF8.self)
    }

    /// Removes a file, or a directory with its content, and follows no link.
    package func remove(_ name: String) { removeTree(self(name)) }

    private func removeTree(_ path: String) {
        do {
            if try File.attributes(of: path, followingLinks: false).kind == .directory {
                for name in try Directory.list(path) { removeTree("\(path)/\(name)") }
                try Directory.remove(path)
            } else {
                try File.remove(path)
            }
        } catch {
            print("clean up after a test: \(error)")
        }
    }
}

/// Why a test could not go on.
package struct TestFailure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
