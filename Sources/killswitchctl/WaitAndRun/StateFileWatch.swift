import CivilTime
import Decision
import EventLoop
import Faults
import Records

/// Calls a function whenever the state file or the marker of a service may have changed.
final class StateFileWatch {
    private var watches: [PathWatch] = []
    private var slowPoll: Timer?

    /// Watches the files by inotify(7), or polls them every second if the kernel has no watch left.
    init(
        _ service: ServiceName, in published: PublishedFiles, on loop: EventLoop,
        look: @escaping () -> Void
    ) throws(SystemError) {
        let folder = "\(published.directory)/\(service)"
        let names = [FileName.state] + Gate.allCases.map(\.rawValue)
        watches = names.map { PathWatch(loop, path: "\(folder)/\($0)", handler: look) }
        guard watches.contains(where: { $0.problem != nil }) else { return }
        slowPoll = try Timer(loop, accuracy: .milliseconds(100)) { [unowned self] in
            look()
            slowPoll?.set(at: loop.now.boot + .seconds(1))
        }
        slowPoll?.set(at: loop.now.boot + .seconds(1))
    }
}
