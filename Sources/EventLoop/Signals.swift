import CSystemd
import Glibc

/// Turns signals of the process into events: the handler gets the number.
///
/// They are blocked in the calling thread, and stay so after this object is gone: one that comes
/// then waits, instead of ending the process in the middle of something. A child that is to be
/// ended by them needs its mask emptied when it is made.
package final class Signals {
    /// A signal as it came.
    package struct Received: Hashable, Sendable {
        package let number: Int32
        /// A process sent it with `kill(2)` or the like, to this process or to its group. The kernel
        /// sends what is typed at a terminal, to the whole process group that has it.
        package let isFromProcess: Bool
    }

    private let sources: [Source<Received>]

    /// A signal has one owner on a loop; a second one is the error `EBUSY`.
    package convenience init(
        _ loop: EventLoop, _ signals: [Int32], handler: @escaping (Int32) -> Void
    ) throws(LoopError) {
        try self.init(loop, sentTo: signals) { handler($0.number) }
    }

    /// The same, and the handler learns where each came from.
    package init(
        _ loop: EventLoop, sentTo signals: [Int32], handler: @escaping (Received) -> Void
    ) throws(LoopError) {
        var sources: [Source<Received>] = []
        for signal in signals {
            try block(signal)
            let source = try unsafe Source("add signal", handler: handler) { source, userdata in
                unsafe sd_event_add_signal(
                    loop.pointer, &source, signal,
                    { _, info, userdata in
                        guard let info = unsafe info else { return 0 }
                        let signal = unsafe Received(
                            number: Int32(bitPattern: info.pointee.ssi_signo),
                            isFromProcess: info.pointee.ssi_code <= 0)
                        return unsafe Source.deliver(signal, to: userdata)
                    }, userdata)
            }
            sources.append(source)
        }
        self.sources = sources
    }

    /// Lets these signals wait from now on for the object that takes them: one that comes in the first
    /// milliseconds of a program is not lost, and does not end it.
    package static func hold(_ signals: [Int32]) throws(LoopError) {
        for signal in signals { try block(signal) }
    }
}

/// Blocks a signal in this thread, without which sd-event refuses to have it as a source.
func block(_ signal: Int32) throws(LoopError) {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    try check("block signal", negatedError(unsafe sigaddset(&signals, signal)))
    try check("block signal", -(unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)))
}
