import CivilTime
import Files

/// The latest instant that surely lies in the past, without asking the clock: when this program was
/// built, and when systemd last saved the time (systemd-timesyncd(8)).
enum ClockFloor {
    static var instant: Instant {
        [
            "/proc/self/exe", "/var/lib/systemd/timesync/clock", "/usr/lib/clock-epoch",
        ].compactMap(modified).max() ?? Instant(seconds: 0)
    }

    private static func modified(_ path: String) -> Instant? {
        do {
            return Instant(microseconds: try File.modificationTime(of: path))
        } catch {
            return nil
        }
    }
}
