import CSystemd
import Glibc

/// Turns signals of the process into events: the handler gets the number.
///
/// They are blocked in the calling thread, and stay so after this object is gone: one that comes
/// then waits, instead of ending the process in the middle of something. A child that is to be
/// ended by them needs its mask emptied when it is made.
package final class Signals {
    private let sources: [Source<Int32>]

    /// A signal has one owner on a loop; a second one is the error `EBUSY`.
    package init(
        _ loop: EventLoop, _ signals: [Int32], handler: @escaping (Int32) -> Void
    ) throws(LoopError) {
        var sources: [Source<Int32>] = []
        for signal in signals {
            try block(signal)
            let source = try unsafe Source("add signal", handler: handler) { source, userdata in
                unsafe sd_event_add_signal(
                    loop.pointer, &source, signal,
                    { _, info, userdata in
                        guard let info = unsafe info else { return 0 }
                        let number = unsafe Int32(bitPattern: info.pointee.ssi_signo)
                        return unsafe Source.deliver(number, to: userdata)
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
