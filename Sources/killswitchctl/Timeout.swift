import ArgumentParser
import CivilTime
import Settings

/// A duration as it is written in the configuration.
struct Timeout: ExpressibleByArgument {
    let duration: Duration

    init(_ duration: Duration) {
        self.duration = duration
    }

    init?(argument: String) {
        guard let duration = Duration(text: argument) else { return nil }
        self.duration = duration
    }

    /// As it would be typed.
    var defaultValueDescription: String {
        let milliseconds = duration.microseconds / 1000
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(milliseconds)ms"
    }
}
