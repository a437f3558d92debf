import CSystemd
import Glibc
package import POSIX

/// Reports changes of one file or in one directory: inotify(7).
///
/// It follows the inode that the path led to when this was made, wherever that is moved.
/// `PathWatch` follows a path.
package final class Watch {
    /// Changes to report, and changes that came.
    package struct Mask: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32
        /// The changes of an inotify(7) mask.
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        private init(_ bits: Int32) { rawValue = UInt32(bitPattern: bits) }

        /// The metadata changed: mode, owner, times, number of names.
        package static let attrib = Mask(IN_ATTRIB)
        /// A process closed it that had it open for writing.
        package static let closeWrite = Mask(IN_CLOSE_WRITE)
        /// A name came into the directory: made, linked.
        package static let create = Mask(IN_CREATE)
        /// A name is gone from the directory.
        package static let delete = Mask(IN_DELETE)
        /// A name of the directory was changed by `rename(2)`, within it or out of it.
        package static let movedFrom = Mask(IN_MOVED_FROM)
        /// A name came into the directory by `rename(2)`, perhaps in the place of another file.
        package static let movedTo = Mask(IN_MOVED_TO)
        /// The watched inode itself is gone.
        package static let deleteSelf = Mask(IN_DELETE_SELF)
        /// The watched inode itself was given another name.
        package static let moveSelf = Mask(IN_MOVE_SELF)

        /// Only when a watch is made: fail with `ENOTDIR` if the path is no directory.
        package static let onlyDirectory = Mask(IN_ONLYDIR)
        /// Only when a watch is made: watch a link itself, not its target.
        package static let dontFollow = Mask(IN_DONT_FOLLOW)

        /// Always reported: the kernel has ended the watch, and nothing more will come.
        package static let ignored = Mask(IN_IGNORED)
        /// Always reported: events were lost, so anything may have changed.
        package static let queueOverflow = Mask(IN_Q_OVERFLOW)
        /// Reported along with others: the event is about a directory.
        package static let isDirectory = Mask(IN_ISDIR)
    }

    /// One change.
    package struct Event: Hashable, Sendable {
        package let mask: Mask
        /// The name in the watched directory; nil if the event is about the watched inode
        /// itself. Bytes that are not UTF-8 are replaced.
        package let name: String?
    }

    private let source: EventSource<Event>

    /// Throws an error whose `isNotFound` is true if the path leads nowhere.
    package init(
        _ loop: EventLoop, _ path: String, _ mask: Mask, handler: @escaping (Event) -> Void
    ) throws(SystemError) {
        source = try unsafe EventSource("watch '\(path)'", handler: handler) { source, userdata in
            unsafe sd_event_add_inotify(
                loop.pointer, &source, path, mask.rawValue,
                { _, event, userdata in
                    guard let event = unsafe event else { return 0 }
                    return unsafe EventSource.deliver(Event(event), to: userdata)
                }, userdata)
        }
    }
}

extension Watch.Event {
    /// The name lies behind the struct, `len` bytes with NULs at the end, or none at all.
    fileprivate init(_ event: UnsafePointer<inotify_event>) {
        mask = unsafe Watch.Mask(rawValue: event.pointee.mask)
        let bytes = unsafe UnsafeRawBufferPointer(
            start: UnsafeRawPointer(event) + MemoryLayout<inotify_event>.size,
            count: Int(event.pointee.len))
        let name = unsafe bytes.prefix { $0 != 0 }
        self.name = unsafe name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
    }
}
