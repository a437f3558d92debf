import ArgumentParser
import CivilTime
import Settings

/// A time in the past as it is written on the command line.
enum Since: ExpressibleByArgument {
    case at(Instant)
    /// So long ago.
    case ago(Duration)

    init?(argument: String) {
        if let duration = Duration(text: argument) {
            self = .ago(duration)
        } else if case .success(let instant) = Result(catching: { try Instant(rfc3339: argument) })
        {
            self = .at(instant)
        } else {
            return nil
        }
    }

    func instant(before now: Instant) -> Instant {
        switch self {
        case .at(let instant): instant
        case .ago(let duration): now - duration
        }
    }
}
