import CivilTime
import FlagSources

/// A source, and when its driver last checked its files.
final class ActiveSource {
    let source: any FlagSource
    /// The path of its mark, made once: a poll touches it.
    let mark: String
    /// When files of its services were last checked.
    var checkedAt: Boottime?
    /// How many of its switches were checked since the first one.
    var checked = 0

    /// A source whose files were not checked yet.
    init(_ source: any FlagSource, mark: String) {
        self.source = source
        self.mark = mark
    }
}
