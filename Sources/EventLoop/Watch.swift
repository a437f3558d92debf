import CSystemd
import Glibc
package import POSIX

/// Reports changes of one file or in one directory: inotify(7).
///
/// It follows the inode that the path led to when this was made, wherever that is moved.
/// `PathWatch` follows a path.
package final class Watch {
    /// One change.
    package struct Event: Hashable, Sendable {
        /// Bits of inotify(7). `IN_IGNORED`: the kernel has ended the watch. `IN_Q_OVERFLOW`: events were lost, so
        /// anything may have changed.
        package let mask: Int32
        /// The name in the watched directory; nil if the event is about the watched inode
        /// itself. Bytes that are not UTF-8 are replaced.
        package let name: String?
    }

    private let source: EventSource<Event>

    /// Reports the changes of a mask of inotify(7). Throws an error whose `isNotFound` is true if the path leads
    /// nowhere.
    package init(
        _ loop: EventLoop, _ path: String, _ mask: Int32, handler: @escaping (Event) -> Void
    ) throws(SystemError) {
        source = try unsafe EventSource("watch '\(path)'", handler: handler) { source, userdata in
            unsafe sd_event_add_inotify(
                loop.pointer, &source, path, UInt32(bitPattern: mask),
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
        mask = unsafe Int32(bitPattern: event.pointee.mask)
        let bytes = unsafe UnsafeRawBufferPointer(
            start: UnsafeRawPointer(event) + MemoryLayout<inotify_event>.size,
            count: Int(event.pointee.len))
        let name = unsafe bytes.prefix { $0 != 0 }
        self.name = unsafe name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
    }
}
