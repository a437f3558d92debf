import CivilTime
import RemoteFlags

/// A source, and what the agent itself has to know of it.
final class Followed {
    let source: any FlagSource
    /// When its files were last looked after.
    var checkedAt: Boottime?

    init(_ source: any FlagSource) {
        self.source = source
    }
}
