import CivilTime
import Datagrams
import Decision
import EventLoop
import Faults
import Notify

/// systemd, or whatever else started us and listens: hears how the work goes.
///
/// Silent where nobody listens. Where the service manager takes nothing for a while, READY and the
/// status are said again a second later; a ping or a reload that is late would be a lie.
final class ServiceManager {
    private let loop: EventLoop
    private let socket: NotifySocket?
    private var supervision: Supervision
    private var timer: Timer?
    private var unsaid: [Notification] = []
    /// Whether the last words found the service manager busy.
    private var isBusy = false
    /// How things stand, and whether the work goes on.
    private let examine: () -> (Overview, isProgressing: Bool, gates: GateOverview)
    /// What is wrong with the configuration on disk, where it is not the one in force.
    var refusal: String?

    init(
        _ environment: ServiceEnvironment, on loop: EventLoop,
        examine: @escaping () -> (Overview, isProgressing: Bool, gates: GateOverview)
    ) throws {
        self.loop = loop
        self.examine = examine
        socket = try environment.socket.map { try NotifySocket($0) }
        supervision = Supervision(
            watchdog: socket == nil ? nil : environment.watchdog, at: loop.now.boot)
        timer = try Timer(loop, accuracy: .milliseconds(250)) { [unowned self] in look() }
    }

    /// Says what is new, and arms the timer for what is due later.
    func look() {
        guard socket != nil else { return }
        let (overview, isProgressing, gates) = examine()
        say(
            supervision.look(
                at: overview, isProgressing: isProgressing, problem: refused, gates: gates,
                at: loop.now.boot))
        let retry = isBusy ? loop.now.boot + .seconds(1) : nil
        guard let next = [supervision.nextLook, retry].compactMap(\.self).min() else { return }
        timer?.set(at: next)
    }

    /// The configuration is about to be read again.
    func beginReload() {
        if supervision.isReady { say([.reloadingNow]) }
    }

    /// The configuration was read again, whatever came of it.
    func endReload() {
        supervision.reloaded()
        look()
    }

    /// The service is about to end.
    func stop() {
        timer = nil
        say([.stopping, .status("stopping; no gate is moved by that")])
    }

    private var refused: String? {
        refusal.map { "configuration refused, the one accepted last is in force: \($0)" }
    }

    private func say(_ messages: [Notification]) {
        guard let socket else { return }
        let words = unsaid + messages
        do {
            try socket.send(words)
            unsaid = []
            isBusy = false
        } catch {
            unsaid = words.contains(.ready) ? [.ready] : []
            isBusy = error.isReceiverFull
            supervision.wasNotHeard()
        }
    }
}
