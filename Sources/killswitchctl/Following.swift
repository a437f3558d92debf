import CivilTime
import Decision
import EventLoop
import Faults
import Records

/// Tells when what the files say of a service may have changed: its state, or the marker.
final class Following {
    private var watches: [PathWatch] = []
    private var slowPoll: Timer?

    init(
        _ service: ServiceName, in published: Published, on loop: EventLoop,
        look: @escaping () -> Void
    ) throws(SystemError) {
        let folder = "\(published.directory)/\(service)"
        let names = [FileName.state] + Gate.allCases.map(\.rawValue)
        watches = names.map { PathWatch(loop, path: "\(folder)/\($0)", handler: look) }
        guard watches.contains(where: { $0.problem != nil }) else { return }
        // The kernel has no watch for us.
        slowPoll = try Timer(loop, accuracy: .milliseconds(100)) { [unowned self] in
            look()
            slowPoll?.set(at: loop.now.boot + .seconds(1))
        }
        slowPoll?.set(at: loop.now.boot + .seconds(1))
    }
}
