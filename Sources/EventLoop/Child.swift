import CSystemd
import Glibc

/// Waits for a child process to end, and reaps it.
///
/// Blocks `SIGCHLD` in the calling thread, which sd-event asks for. Dropped before the end it waits
/// no longer, and whoever started the child has to reap it.
package final class Child {
    /// How the process ended.
    package enum End: Hashable, Sendable {
        /// By itself, with this status of 0 to 255.
        case exited(Int32)
        /// By this signal.
        case killed(Int32)
    }

    private let source: Source<End>

    /// The handler is called once, with the end of the process of that ID. No such child is the error `ESRCH`.
    package init(
        _ loop: EventLoop, _ process: Int32, handler: @escaping (End) -> Void
    ) throws(LoopError) {
        try block(SIGCHLD)
        source = try unsafe Source("add child", handler: handler) { source, userdata in
            unsafe sd_event_add_child(
                loop.pointer, &source, process, Int32(WEXITED),
                { _, info, userdata in
                    guard let info = unsafe info else { return 0 }
                    return unsafe Source.deliver(End(info.pointee), to: userdata)
                }, userdata)
        }
    }
}

extension Child.End {
    /// From what `waitid(2)` tells of a child that has ended.
    fileprivate init(_ info: siginfo_t) {
        let status = unsafe info._sifields._sigchld.si_status
        self = unsafe info.si_code == CLD_EXITED ? .exited(status) : .killed(status)
    }
}
