import Decision
import EventLoop
import RemoteFlags
import Settings

/// The sources of the configuration, made of what each kind needs. A new kind is one more case here.
final class SourceList {
    private(set) var all: [any FlagSource] = []
    /// Where their events go, once there is somebody to take them.
    var deliver: Deliver = { _ in }

    init(_ configured: [Source], on loop: EventLoop) {
        all = configured.map { source in
            let deliver: Deliver = { [unowned self] event in self.deliver(event) }
            switch source.kind {
            case .file(let path):
                return FileSource(
                    name: source.name, path: path, maxBody: source.maxBody, loop: loop,
                    deliver: deliver)
            }
        }
    }
}
