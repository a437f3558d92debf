import CCurl
import CivilTime
package import EventLoop
import Files

/// An HTTP client: libcurl's multi interface on the event loop. Its sockets and its one timer are
/// sources of the loop. Connections are kept, and all transfers share them.
///
/// libcurl must not be called from its own callbacks: they only note sockets to watch, and a time to wait.
@safe
package final class HTTPClient {
    private let loop: EventLoop
    private let handle: UnsafeMutableRawPointer
    private var sockets: [Int32: Descriptor] = [:]
    /// The sockets that could not be watched, and what libcurl asked for.
    private var unwatched: [Int32: Int32] = [:]
    private var retry: Timer?
    private var timer: Timer?
    private var soon: Deferred?
    /// The transfers that have ended and do not know it yet.
    private var ended: [(transfer: HTTPTransfer, code: CURLcode)] = []
    private var isStarting = false
    /// The files of authorities, and how often each has changed.
    private var authorities: [String: (stamp: FileStamp, changes: Int)] = [:]

    /// A client without connections. Throws a `TransferError` or `SystemError` without memory or descriptors.
    package init(_ loop: EventLoop) throws {
        self.loop = loop
        try loadLibrary()
        try check(curl_global_init(curl_global_everything))
        guard let handle = unsafe curl_multi_init() else {
            throw TransferError.notStarted("out of memory")
        }
        unsafe self.handle = handle
        timer = try Timer(loop, accuracy: .milliseconds(5)) { [unowned self] in expire() }
        retry = try Timer(loop, accuracy: .milliseconds(50)) { [unowned self] in
            for (socket, interest) in unwatched { watch(socket, for: interest) }
        }
        soon = Deferred(loop) { [unowned self] in deliver() }
        let itself = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe curl_multi_set_pointer(handle, CURLMOPT_SOCKETDATA, itself)
        unsafe curl_multi_set_pointer(handle, CURLMOPT_TIMERDATA, itself)
        unsafe curl_multi_set_socket_function(handle) { _, socket, interest, userdata, _ in
            unsafe HTTPClient.from(userdata)?.watch(socket, for: interest)
            return 0
        }
        unsafe curl_multi_set_timer_function(handle) { _, milliseconds, userdata in
            unsafe HTTPClient.from(userdata)?.wait(milliseconds)
            return 0
        }
    }

    deinit {
        // Cleaning up would call back into this object, which is going away.
        unsafe curl_multi_set_socket_function(handle, nil)
        unsafe curl_multi_set_timer_function(handle, nil)
        sockets = [:]
        unsafe curl_multi_cleanup(handle)
        curl_global_cleanup()
    }

    var now: Boottime { loop.now.boot }

    /// The path of a file of authorities, in another spelling after each change: the changes in binary, as '/' and
    /// './'.
    ///
    /// libcurl keeps authorities for an hour, connections and TLS sessions, and finds all of them by the path as it is
    /// written. So they are made anew after a change, and only then: a bundle of 140 costs 40 ms.
    func spelling(of path: String) -> String {
        let stamp = FileStamp(of: path)
        var changes = 0
        if let known = authorities[path] {
            changes = known.changes + (stamp.shows(unchangedSince: known.stamp) ? 0 : 1)
        }
        authorities[path] = (stamp, changes)
        guard changes > 0, let slash = path.firstIndex(of: "/") else { return path }
        let digits = String(changes, radix: 2).map { $0 == "1" ? "./" : "/" }.joined()
        return "\(path[...slash])\(digits)\(path[slash...].dropFirst())"
    }

    /// Starts the request of a transfer. The transfer is told of its end later, never from within this call.
    func add(_ transfer: HTTPTransfer) throws(TransferError) {
        isStarting = true
        let code = unsafe curl_multi_add_handle(handle, transfer.handle.pointer)
        guard code == CURLM_OK else {
            isStarting = false
            throw .notStarted(unsafe String(cString: curl_multi_strerror(code)))
        }
        // libcurl starts by a timer that is due at once: this saves a turn of the loop.
        workOnTime()
        if !ended.isEmpty { soon?.arm() }
    }

    /// Ends the request of a transfer without telling the transfer.
    func remove(_ transfer: HTTPTransfer) {
        unsafe curl_multi_remove_handle(handle, transfer.handle.pointer)
        if !ended.isEmpty { ended.removeAll { $0.transfer === transfer } }
    }

    /// The client of libcurl's userdata. libcurl has it until `deinit` takes the callbacks away.
    private static func from(_ userdata: UnsafeMutableRawPointer?) -> HTTPClient? {
        guard let userdata = unsafe userdata else { return nil }
        return unsafe Unmanaged<HTTPClient>.fromOpaque(userdata).takeUnretainedValue()
    }

    /// Watches a socket as libcurl asks for it. If memory has run out, it is tried again soon; a transfer that
    /// waits for too long times out.
    private func watch(_ socket: Int32, for interest: Int32) {
        unwatched[socket] = nil
        let events: Descriptor.Events
        switch interest {
        case CURL_POLL_IN: events = .readable
        case CURL_POLL_OUT: events = .writable
        case CURL_POLL_INOUT: events = [.readable, .writable]
        default:
            sockets[socket] = nil
            return
        }
        do {
            if let known = sockets[socket] { return try known.listen(for: events) }
            sockets[socket] = try Descriptor(loop, socket, events) { [unowned self] events in
                act(on: socket, events)
            }
        } catch {
            sockets[socket] = nil
            unwatched[socket] = interest
            retry?.set(at: now + Self.retryInterval)
        }
    }

    private static let retryInterval: Duration = .milliseconds(100)

    /// Sets the timer as libcurl asks for it; a negative time waits for sockets alone.
    private func wait(_ milliseconds: Int) {
        guard !isStarting else { return }
        timer?.set(at: milliseconds >= 0 ? now + .milliseconds(milliseconds) : nil)
    }

    private func act(on socket: Int32, _ events: Descriptor.Events) {
        var mask: Int32 = 0
        if events.contains(.readable) { mask |= CURL_CSELECT_IN }
        if events.contains(.writable) { mask |= CURL_CSELECT_OUT }
        if events.contains(.error) || events.contains(.hangUp) { mask |= CURL_CSELECT_ERR }
        var running: Int32 = 0
        unsafe curl_multi_socket_action(handle, socket, mask, &running)
        collect()
        deliver()
    }

    private func expire() {
        workOnTime()
        deliver()
    }

    /// Lets libcurl do its timed work. Its clock stands still while the host is suspended, ours
    /// does not: if we call it too early, it does not ask for the timer again, so that we ask it.
    private func workOnTime() {
        var running: Int32 = 0
        unsafe curl_multi_socket_action(handle, CURL_SOCKET_TIMEOUT, 0, &running)
        var milliseconds = -1
        unsafe curl_multi_timeout(handle, &milliseconds)
        isStarting = false
        wait(milliseconds)
        collect()
    }

    /// Takes the transfers that have ended away from libcurl.
    private func collect() {
        var finished: [(transfer: HTTPTransfer, code: CURLcode)] = []
        while true {
            let next = unsafe curl_multi_next_finished(handle)
            guard let easy = unsafe next.easy else { break }
            guard let transfer = unsafe transfer(of: easy) else { continue }
            finished.append((transfer, unsafe next.code))
        }
        for (transfer, _) in finished { remove(transfer) }
        ended += finished
    }

    /// Tells the transfers that have ended, which may send again at once. A transfer that sends
    /// again before its turn is taken off the list: it hears of the new request only.
    private func deliver() {
        var left = ended.count
        while left > 0, !ended.isEmpty {
            left -= 1
            let (transfer, code) = ended.removeFirst()
            transfer.transferEnded(code)
        }
        if !ended.isEmpty { soon?.arm() }
    }
}
