import CivilTime
import Decision
import Drivers
import EventLoop
import POSIX
import Systemd

/// Reports to the service manager over `NOTIFY_SOCKET`, sd_notify(3).
///
/// Does nothing without a socket. If the service manager is busy, READY and the status are sent again a
/// second later; a ping or a RELOADING that is late would be false, and is dropped.
final class SystemdNotifier {
    private let loop: EventLoop
    private let socket: NotifySocket?
    private var supervision: NotifyState
    private var timer: Timer?
    private var unsaid: [Notification] = []
    /// Whether the last message found the socket's buffer full.
    private var isBusy = false
    private let decisionDriver: DecisionDriver
    private let condition: () -> HostCondition

    /// Connects to the socket of the environment. `condition` is what is known beside the machine.
    init(
        _ environment: NotifyEnvironment, on loop: EventLoop, _ decisionDriver: DecisionDriver,
        _ condition: @escaping () -> HostCondition
    ) throws {
        self.loop = loop
        self.decisionDriver = decisionDriver
        self.condition = condition
        socket = try environment.socket.map { try NotifySocket($0) }
        supervision = NotifyState(
            watchdog: socket == nil ? nil : environment.watchdog, at: loop.now.boot)
        timer = try Timer(loop, accuracy: .milliseconds(250)) { [unowned self] in sendDue() }
    }

    /// Sends what is new, and sets the timer for the next look.
    func sendDue() {
        // What follows reads every source and service, so that a poll must not pay for it each time.
        guard socket != nil, isBusy || !supervision.isWaiting(at: loop.now.boot) else { return }
        let (machine, now) = (decisionDriver.machine, decisionDriver.now)
        send(
            supervision.dueMessages(
                for: machine.overview(at: now, condition()),
                isProgressing: machine.isProgressing(at: now), at: now.boot))
        let retry = isBusy ? loop.now.boot + .seconds(1) : nil
        guard let next = [supervision.nextWake, retry].compactMap(\.self).min() else { return }
        timer?.set(at: next)
    }

    /// Sends RELOADING before the configuration is read again.
    func reloadStarted() { if supervision.isReady { send([.reloadingNow]) } }

    /// Sends READY after the configuration was read again, whether it was accepted or not.
    func reloadEnded() {
        supervision.reloaded()
        sendDue()
    }

    func stop() {
        timer = nil
        send([.stopping, .status("stopping; gates stay as they are")])
    }

    private func send(_ messages: [Notification]) {
        guard let socket else { return }
        let words = unsaid + messages
        do {
            try socket.send(words)
            unsaid = []
            isBusy = false
        } catch {
            unsaid = words.contains(.ready) ? [.ready] : []
            isBusy = error.isReceiverFull
            supervision.sendFailed()
        }
    }
}
