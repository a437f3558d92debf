import Decision
import EventLoop
import RemoteFlags
import Settings

/// The sources that are followed, made of what each kind needs. A new kind is one more case here.
final class SourceList {
    private let loop: EventLoop
    private var followed: [(settings: Source, source: any FlagSource)] = []
    /// Where their events go, once there is somebody to take them.
    var deliver: Deliver = { _ in }

    init(on loop: EventLoop) {
        self.loop = loop
    }

    /// The sources of a configuration; those that stay as they were are the objects of before.
    func follow(_ configured: [Source]) -> [any FlagSource] {
        followed = configured.map { settings in
            let same = followed.first { $0.settings.fetches(like: settings) }
            return (settings, same?.source ?? make(settings))
        }
        return followed.map(\.source)
    }

    private func make(_ settings: Source) -> any FlagSource {
        let deliver: Deliver = { [unowned self] event in self.deliver(event) }
        switch settings.kind {
        case .file(let path):
            return FileSource(
                name: settings.name, path: path, maxBody: settings.maxBody, loop: loop,
                deliver: deliver)
        }
    }
}

extension Source {
    /// Whether one object can fetch for both: all but when it is asked, and where it is written.
    fileprivate func fetches(like other: Source) -> Bool {
        var same = other
        same.interval = interval
        same.origin = origin
        return self == same
    }
}
