import CivilTime
import Datagrams
import Decision
import EventLoop
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
    private var unsaid: [Message] = []
    /// Whether the last words found the service manager busy.
    private var isBusy = false
    private let examine: Examine

    /// How things stand, whether the work goes on, and what is wrong with the configuration on disk,
    /// where it is not the one in force.
    typealias Examine = () -> (
        Overview, isProgressing: Bool, refusal: String?, gates: GateOverview
    )

    init(
        _ environment: ServiceEnvironment, on loop: EventLoop,
        examine: @escaping Examine
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
        let (overview, isProgressing, refusal, gates) = examine()
        let problem = refusal.map {
            "configuration refused, the one accepted last is in force: \($0)"
        }
        say(
            supervision.look(
                at: overview, isProgressing: isProgressing, problem: problem, gates: gates,
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

    private func say(_ messages: [Message]) {
        guard let socket else { return }
        let words = unsaid + messages
        do {
            try socket.send(words)
            unsaid = []
            isBusy = false
        } catch {
            unsaid = words.contains(.ready) ? [.ready] : []
            isBusy = error.isFull
            supervision.wasNotHeard()
        }
    }
}
