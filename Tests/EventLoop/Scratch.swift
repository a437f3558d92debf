import Glibc
import Support
import Testing

/// A temporary folder with methods to change its content. It is removed with the object.
///
/// Names are relative to the folder. A step that fails is a failure of the test.
final class Scratch {
    private let folder: TemporaryFolder
    var path: String { folder.path }

    init() throws { folder = try TemporaryFolder() }

    /// The absolute path of a name.
    func callAsFunction(_ name: String) -> String { folder(name) }

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
        folder.remove(name)
        expect(unsafe access(self(name), F_OK) == 0 ? -1 : 0, "remove \(name)")
    }

    /// The content of a file; empty without one.
    func read(_ name: String) -> String { (try? folder.text(of: name)) ?? "" }

    private func expect(_ result: Int32, _ step: String) {
        #expect(result == 0, "\(step): errno \(errno)")
    }
}
