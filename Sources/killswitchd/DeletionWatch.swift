import CivilTime
import EventLoop
import Files
import Glibc
import POSIX

/// Notices that somebody deletes files of the runtime or the state directory, so that they come back at once.
///
/// One watch is on the directory, and one on each folder in it, up to a limit: ten thousand watches would cost the
/// kernel some megabytes. The files of a service beyond the limit come back at a poll of its source. The daemon
/// replaces its files by renaming, which no watch reports, and removes only those that come and go with the state of a
/// service.
final class DeletionWatch {
    /// What was deleted.
    struct Deletions: Equatable {
        /// Names in the directory, such as `control.sock`, and in folders of services: `shop/state.json`.
        var names: Set<String> = []
        var isWhole = false
        /// The kernel has lost events: any file may be gone, or none.
        var isUnknown = false

        /// Whether any file may be gone.
        var concernsAll: Bool { isWhole || isUnknown }

        /// The line for the log.
        func words(_ path: String) -> String {
            isUnknown
                ? "inotify has lost changes in \(path): the files there are written again"
                : "somebody has deleted files in \(path): they are written again"
        }
    }

    private let loop: EventLoop
    private let path: String
    private let deliver: (Deletions) -> Void
    private var directory: Watch?
    private var folders: [String: Watch] = [:]
    private var timer: Timer?
    private var gathered = Deletions()
    /// When lost events may be told again: each time everything is written.
    private var restsUntil = Boottime(microseconds: 0)

    /// Watches the directory. `deliver` is called soon after a deletion; one call for `rm -rf`.
    init(
        _ loop: EventLoop, _ path: String, deliver: @escaping (Deletions) -> Void
    ) throws(SystemError) {
        self.loop = loop
        self.path = path
        self.deliver = deliver
        timer = try Timer(loop, accuracy: .milliseconds(20)) { [unowned self] in
            var deletions = gathered
            gathered = Deletions()
            if deletions.isUnknown { rest(from: &deletions) }
            // The daemon may have written the file again itself.
            deletions.names = deletions.names.filter { name in
                readable { try File.exists("\(path)/\(name)") } != true
            }
            // An open file in it keeps the directory from being reported.
            if readable({ try File.exists(path) }) != true { deletions.isWhole = true }
            if deletions != Deletions() { self.deliver(deletions) }
        }
        rearm()
    }

    /// Watches the directory that is at the path now.
    func rearm() {
        folders = [:]
        directory = watch(path) { [unowned self] event in
            guard let name = event.name else {
                let isOverflow = event.mask & IN_Q_OVERFLOW != 0
                return gather { isOverflow ? ($0.isUnknown = true) : ($0.isWhole = true) }
            }
            // The watch of the folder is gone with it.
            folders[name] = nil
            gather { $0.names.insert(name) }
        }
    }

    /// Watches a folder in it, which was written just now, or no longer: the daemon itself deletes its files.
    func setFolder(of folder: String, isWatched: Bool) {
        guard isWatched else { return folders[folder] = nil }
        guard folders[folder] == nil, folders.count < Self.mostFolders else { return }
        folders[folder] = watch("\(path)/\(folder)") { [unowned self] event in
            guard let name = event.name, name.utf8.first != UInt8(ascii: ".") else { return }
            gather { $0.names.insert("\(folder)/\(name)") }
        }
    }

    private static let mostFolders = 1000

    /// Long enough for `rm -rf`, and well below the second that the manual promises.
    private static let timeLimit: Duration = .milliseconds(200)

    private func rest(from deletions: inout Deletions) {
        let now = loop.now.boot
        if restsUntil <= now { return restsUntil = now + Self.pause }
        deletions.isUnknown = false
        gathered.isUnknown = true
        timer?.set(at: restsUntil)
    }

    /// Between two tellings of lost events.
    private static let pause: Duration = .seconds(10)

    private func gather(_ change: (inout Deletions) -> Void) {
        if gathered == Deletions() { timer?.set(at: loop.now.boot + Self.timeLimit) }
        change(&gathered)
    }

    /// Nil if the directory is not there, or the kernel has no watch left: a poll finds the deletion then.
    private func watch(_ path: String, _ handler: @escaping (Watch.Event) -> Void) -> Watch? {
        readable {
            try Watch(loop, path, IN_DELETE | IN_DELETE_SELF | IN_ONLYDIR) { event in
                // The end of a watch follows the deletion of its directory, and says nothing new.
                if event.mask & IN_IGNORED != 0 { return }
                handler(event)
            }
        }
    }
}
