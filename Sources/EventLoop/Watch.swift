import CSystemd
import Glibc

/// An inotify(7) watch on one file or folder.
package final class Watch: EventSource {
    /// What happened, or is to be told of.
    package struct Changes: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        package static let attributes = Changes(rawValue: UInt32(IN_ATTRIB))
        package static let closedAfterWriting = Changes(rawValue: UInt32(IN_CLOSE_WRITE))
        package static let created = Changes(rawValue: UInt32(IN_CREATE))
        package static let deleted = Changes(rawValue: UInt32(IN_DELETE))
        package static let deletedItself = Changes(rawValue: UInt32(IN_DELETE_SELF))
        package static let movedItself = Changes(rawValue: UInt32(IN_MOVE_SELF))
        package static let movedFrom = Changes(rawValue: UInt32(IN_MOVED_FROM))
        package static let movedTo = Changes(rawValue: UInt32(IN_MOVED_TO))
        /// The watch is gone. Told of whether or not it was asked for.
        package static let ignored = Changes(rawValue: UInt32(IN_IGNORED))
        /// Events were lost. Told of whether or not it was asked for.
        package static let overflow = Changes(rawValue: UInt32(IN_Q_OVERFLOW))
        /// To ask only: fail on what is no folder.
        package static let onlyDirectory = Changes(rawValue: UInt32(IN_ONLYDIR))
    }

    private let handler: (Changes, String?) -> Void

    /// - Parameters:
    ///   - loop: Where it happens.
    ///   - path: What is watched: the file or folder that the path leads to now.
    ///   - changes: What is told of.
    ///   - handler: Gets what happened and, of a folder, the name of the entry it happened to.
    /// - Throws: With ENOENT where nothing is there, with ENOSPC at the user's limit of watches.
    package init(
        _ loop: EventLoop, _ path: String, _ changes: Changes,
        handler: @escaping (Changes, String?) -> Void
    ) throws(LoopError) {
        self.handler = handler
        super.init(on: loop)
        try unsafe attach("watch '\(path)'") { loop, place, userdata in
            unsafe sd_event_add_inotify(
                loop, place, path, changes.rawValue,
                { _, event, userdata in
                    unsafe dispatch(userdata, Watch.self) { unsafe $0.take(event) }
                }, userdata)
        }
    }

    private func take(_ event: UnsafePointer<inotify_event>?) {
        guard let event = unsafe event else { return }
        // The name is a flexible array behind the fixed part; `len` counts its padding.
        let name: String? =
            if unsafe event.pointee.len > 0 {
                unsafe String(
                    cString: UnsafeRawPointer(event + 1).assumingMemoryBound(to: CChar.self))
            } else {
                nil
            }
        handler(Changes(rawValue: unsafe event.pointee.mask), name)
    }
}
