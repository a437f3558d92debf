import CSystemd
import Glibc
package import POSIX

/// Turns signals of the process into events.
///
/// The signals are blocked in the calling thread, and stay blocked after this object is gone, so that none ends the
/// process in the middle of its work. A child process that signals should end needs an empty signal mask.
package final class Signals {
    /// A signal that came.
    package struct Received: Hashable, Sendable {
        package let number: Int32
        /// A process sent it, as by `kill(2)`. False for a key at a terminal, which signals the whole process group.
        package let isFromProcess: Bool
    }

    private let sources: [EventSource<Received>]

    /// The handler gets each signal. A signal has one owner on a loop; a second owner is the error `EBUSY`.
    package init(
        _ loop: EventLoop, _ signals: [Int32], handler: @escaping (Received) -> Void
    ) throws(SystemError) {
        sources = try signals.map { (signal) throws(SystemError) in
            try block(signal)
            return try unsafe EventSource("add signal", handler: handler) {
                source, userdata in
                unsafe sd_event_add_signal(
                    loop.pointer, &source, signal,
                    { _, info, userdata in
                        guard let info = unsafe info else { return 0 }
                        let signal = unsafe Received(
                            number: Int32(bitPattern: info.pointee.ssi_signo),
                            isFromProcess: info.pointee.ssi_code <= 0)
                        return unsafe EventSource.deliver(signal, to: userdata)
                    }, userdata)
            }
        }
    }

    /// Blocks these signals before their handler exists: one that comes at the start of a program waits for it.
    package static func hold(_ signals: [Int32]) throws(SystemError) {
        for signal in signals { try block(signal) }
    }
}

/// Blocks a signal in this thread: sd-event accepts only a blocked signal as a source.
func block(_ signal: Int32) throws(SystemError) {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    try SystemError.check("block signal", SystemError.negated(unsafe sigaddset(&signals, signal)))
    try SystemError.check("block signal", -(unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)))
}

/// Waits for a child process to end, and reaps it. It blocks `SIGCHLD` in the calling thread, which sd-event asks for.
/// If it is dropped before the child has ended, the program has to reap the child itself.
package final class Child {
    /// How the process ended.
    package enum End: Hashable, Sendable {
        /// It exited, with this status from 0 to 255.
        case exited(Int32)
        case killed(Int32)
    }

    private let source: EventSource<End>

    /// The handler is called once, when that process has ended. Without such a child the error is `ESRCH`.
    package init(
        _ loop: EventLoop, _ process: Int32, handler: @escaping (End) -> Void
    ) throws(SystemError) {
        try block(SIGCHLD)
        source = try unsafe EventSource("add child", handler: handler) { source, userdata in
            unsafe sd_event_add_child(
                loop.pointer, &source, process, Int32(WEXITED),
                { _, info, userdata in
                    guard let info = unsafe info else { return 0 }
                    return unsafe EventSource.deliver(End(info.pointee), to: userdata)
                }, userdata)
        }
    }
}

extension Child.End {
    /// Reads the result of `waitid(2)` for a child that has ended.
    fileprivate init(_ info: siginfo_t) {
        let status = unsafe info._sifields._sigchld.si_status
        self = unsafe info.si_code == CLD_EXITED ? .exited(status) : .killed(status)
    }
}
