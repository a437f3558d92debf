import CSystemd
import Glibc
package import POSIX

/// Reports changes of one file or in one directory: inotify(7). It follows the inode that the path led to when this was
/// made, wherever that is moved; `PathWatch` follows a path.
package final class Watch {
    /// One change.
    package struct Event: Hashable, Sendable {
        /// Bits of inotify(7). `IN_IGNORED`: the kernel has ended the watch. `IN_Q_OVERFLOW`: events were lost, so
        /// anything may have changed.
        package let mask: Int32
        /// The name in the watched directory; nil for the watched inode itself. Bytes that are not UTF-8 are replaced.
        package let name: String?
    }

    private let inotify: Inotify
    private let listener: Inotify.Listener

    /// Reports the changes of a mask of inotify(7). The error of a path that leads nowhere `isNotFound`.
    package init(
        _ loop: EventLoop, _ path: String, _ mask: Int32, handler: @escaping (Event) -> Void
    ) throws(SystemError) {
        inotify = try loop.inotify()
        listener = try inotify.listen(to: path, mask, handler: handler)
    }

    /// Its handler is not called any more, also for events that are queued.
    deinit { inotify.remove(listener) }
}

/// The inotify(7) of a loop.
///
/// It is not that of sd-event, which never leaves `sd_event_wait` if an event is queued for a source that is removed
/// while another one watches the same inode for something else (`docs/decisions/0095-inotify-without-sd-event.md`).
final class Inotify {
    /// Who is told of the events of one watch of the kernel.
    final class Listener {
        /// The watch descriptor. The kernel has one for an inode, and gives it again only after two thousand million.
        fileprivate let watch: Int32
        fileprivate let mask: Int32
        fileprivate let handler: (Watch.Event) -> Void
        fileprivate var isRemoved = false

        fileprivate init(
            _ watch: Int32, _ mask: Int32, _ handler: @escaping (Watch.Event) -> Void
        ) {
            self.watch = watch
            self.mask = mask
            self.handler = handler
        }
    }

    private let descriptor: Int32
    private var readiness: Descriptor?
    private var listeners: [Int32: [ObjectIdentifier: Listener]] = [:]

    init(_ loop: EventLoop) throws(SystemError) {
        let descriptor = try SystemError.check(
            "start inotify",
            SystemError.negated(inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))))
        self.descriptor = descriptor
        readiness = try Descriptor(loop, descriptor, .readable, owned: true) { [unowned self] _ in
            withExtendedLifetime(self) { readEvents() }
        }
    }

    func listen(
        to path: String, _ mask: Int32, handler: @escaping (Watch.Event) -> Void
    ) throws(SystemError) -> Listener {
        // Somebody may watch the same inode for other events.
        let added = UInt32(bitPattern: mask) | UInt32(IN_MASK_ADD)
        let watch = try SystemError.check(
            "watch '\(path)'",
            SystemError.negated(unsafe inotify_add_watch(descriptor, path, added)))
        let listener = Listener(watch, mask, handler)
        listeners[watch, default: [:]][ObjectIdentifier(listener)] = listener
        return listener
    }

    func remove(_ listener: Listener) {
        listener.isRemoved = true
        listeners[listener.watch]?[ObjectIdentifier(listener)] = nil
        // The kernel may have ended the watch.
        guard listeners[listener.watch]?.isEmpty == true else { return }
        listeners[listener.watch] = nil
        inotify_rm_watch(descriptor, listener.watch)
    }

    private static let readAtOnce = 4096

    private func readEvents() {
        let size = MemoryLayout<inotify_event>.size
        unsafe withUnsafeTemporaryAllocation(
            byteCount: Self.readAtOnce, alignment: MemoryLayout<inotify_event>.alignment
        ) { buffer in
            let count = unsafe read(descriptor, buffer.baseAddress, buffer.count)
            var start = 0
            while start + size <= count {
                let event = unsafe buffer.load(fromByteOffset: start, as: inotify_event.self)
                let end = start + size + Int(event.len)
                let name = unsafe buffer[start + size..<min(end, count)].prefix { $0 != 0 }
                unsafe deliver(
                    Watch.Event(
                        mask: Int32(bitPattern: event.mask),
                        name: name.isEmpty ? nil : String(decoding: name, as: UTF8.self)),
                    of: event.wd)
                start = end
            }
        }
    }

    private func deliver(_ event: Watch.Event, of watch: Int32) {
        let toAll = IN_IGNORED | IN_UNMOUNT | IN_Q_OVERFLOW
        let concerned =
            event.mask & IN_Q_OVERFLOW != 0
            ? listeners.values.flatMap(\.values) : listeners[watch].map { Array($0.values) } ?? []
        for listener in concerned where event.mask & (listener.mask | toAll) != 0 {
            // A handler may have removed the next one.
            if !listener.isRemoved { listener.handler(event) }
        }
        if event.mask & IN_IGNORED != 0 { listeners[watch] = nil }
    }
}
