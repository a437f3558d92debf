import CivilTime
import Decision
import EventLoop
import POSIX
import Storage

/// Keeps the file `motd` of the runtime directory as the services are, and sends its text to killswitchd-motd.socket.
/// Root writes that to `/run/motd.d`: at a login nothing is opened that the daemon's user owns, for it could be a FIFO.
final class MOTDWriter {
    private unowned let daemon: Daemon
    private var text = MotdText()
    /// Whether a service has changed since the last look.
    private var isDue = true
    /// Whether every service was decided once. Before that the file of an earlier daemon says more.
    private var isComplete = false
    /// The text of the file; nil if it is not there, or may be another.
    private var written: String?
    /// The text that still has to be sent to root; nil if root has the last.
    private var unsent: String?
    private var hasFailed = false
    private var timer: Timer?

    init(of daemon: Daemon) throws(SystemError) {
        self.daemon = daemon
        timer = try Timer(daemon.loop, accuracy: .seconds(1)) { [unowned self] in
            send()
            if written == nil { rewrite() }
        }
    }

    func serviceDecided(_ name: ServiceName) {
        let service = daemon.machine.service(name.text)
        let record = service == nil ? nil : daemon.machine.publishedVerdict(of: name)
        if text.update(name, record, in: service?.zone ?? .utc) { isDue = true }
    }

    /// Writes the file if its text has changed. A file that cannot be written is tried again.
    func write() {
        guard isDue else { return }
        isComplete = isComplete || daemon.machine.overview(at: daemon.now).isDecided
        guard isComplete else { return }
        isDue = false
        let new = text.text()
        guard new != written else { return }
        do {
            try daemon.runtime.publish(motd: new)
            if unsent == nil { wake(after: Self.delay) }
            (written, unsent) = (new, new)
            daemon.findings.set(.runtimeDirectory, FileName.motd, to: nil)
        } catch {
            daemon.findings.set(.runtimeDirectory, FileName.motd, to: "\(error); retrying")
            written = nil
            wake(after: Self.timeLimit)
        }
    }

    /// Sends a text that was not sent yet. Nobody receives it where the socket is masked, and for a daemon that
    /// somebody has started by hand.
    func send() {
        guard let text = unsent else { return }
        unsent = nil
        let receiver = SocketAddress.path(daemon.runtime.motdReceiver)
        do {
            try DatagramSocket().send(Array(text.utf8), to: receiver)
        } catch {
            guard error.isReceiverFull else { return }
            unsent = text
            wake(after: Self.timeLimit)
        }
    }

    private func wake(after wait: Duration) { timer?.set(at: daemon.loop.now.boot + wait) }

    /// Writes the file again: it is gone, or could not be written.
    func rewrite() {
        written = nil
        isDue = true
        write()
    }

    /// Root's writer is started in a sandbox, which takes longer than closing a gate: by then most closings are over.
    private static let delay: Duration = .seconds(1)
    private static let timeLimit: Duration = .seconds(5)
}
