import Glibc
import Testing

/// A temporary folder with methods to change its content. It is removed with the object.
///
/// Names are relative to the folder. A step that fails is a failure of the test.
final class Scratch: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/loop-XXXXXX".utf8CString)
        path = unsafe String(cString: try #require(unsafe mkdtemp(&template)))
    }

    deinit { remove("") }

    /// The absolute path of a name.
    func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

    /// Opens for writing, writes and closes; the file is made if it is not there.
    func write(_ name: String, _ text: String = "x") {
        let descriptor = unsafe open(self(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        writeAll(descriptor, text)
        close(descriptor)
    }

    /// Writes beside it and renames.
    func replace(_ name: String, _ text: String = "x") {
        write("\(name).new", text)
        rename("\(name).new", name)
    }

    func rename(_ name: String, _ newName: String) {
        expect(unsafe Glibc.rename(self(name), self(newName)), "rename \(name)")
    }

    func makeDirectory(_ name: String) {
        expect(unsafe mkdir(self(name), 0o755), "make \(name)")
    }

    /// The target is not changed: a relative one counts from the link.
    func link(_ name: String, to target: String) {
        expect(unsafe symlink(target, self(name)), "link \(name)")
    }

    /// Swaps a link atomically, as Kubernetes does it.
    func relink(_ name: String, to target: String) {
        link("\(name).new", to: target)
        rename("\(name).new", name)
    }

    /// Removes a file or a link, or a directory with everything in it.
    func remove(_ name: String) {
        for entry in names(in: self(name)) where isDirectory(name) { remove("\(name)/\(entry)") }
        expect(unsafe Glibc.remove(self(name)), "remove \(name)")
    }

    /// Whether it is a directory, and not a link to one.
    func isDirectory(_ name: String) -> Bool {
        var status = stat()
        return unsafe lstat(self(name), &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    func read(_ name: String) -> String {
        let descriptor = unsafe open(self(name), O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }

    private func expect(_ result: Int32, _ step: String) {
        #expect(result == 0, "\(step): errno \(errno)")
    }
}
