import ArgumentParser
import CivilTime

/// A time on the command line: RFC 3339, with an offset.
struct Moment: ExpressibleByArgument {
    let instant: Instant

    init?(argument: String) {
        do {
            instant = try Instant(rfc3339: argument)
        } catch {
            return nil
        }
    }
}
