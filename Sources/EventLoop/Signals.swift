import CSystemd
import Glibc

/// Signals as events of the loop. They are blocked for the process, as signalfd(2) wants it.
package final class Signals {
    private var sources: [SignalSource] = []

    package init(
        _ loop: EventLoop, _ signals: [Int32], handler: @escaping (Int32) -> Void
    ) throws(LoopError) {
        for signal in signals {
            sources.append(try SignalSource(loop, signal, handler: handler))
        }
    }
}

/// One signal.
private final class SignalSource: EventSource {
    private let signal: Int32
    private let handler: (Int32) -> Void

    init(
        _ loop: EventLoop, _ signal: Int32, handler: @escaping (Int32) -> Void
    ) throws(LoopError) {
        self.signal = signal
        self.handler = handler
        super.init(on: loop)
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        unsafe sigaddset(&mask, signal)
        try valueOrErrno("block signal", unsafe sigprocmask(SIG_BLOCK, &mask, nil))
        try unsafe attach("add signal") { loop, place, userdata in
            unsafe sd_event_add_signal(
                loop, place, signal,
                { _, _, userdata in
                    unsafe dispatch(userdata, SignalSource.self) { $0.handler($0.signal) }
                }, userdata)
        }
    }
}
