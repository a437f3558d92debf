package import CivilTime
package import Decision
package import Notify

/// What the service manager is to be told, and when: a value without a socket or a clock.
///
/// READY once every service has its first decision. More time to start only where a `first_timeout`
/// needs it. WATCHDOG only while the work goes on. STATUS when it says something new, and with each
/// ping, so that the ages in it are true.
package struct Supervision: Sendable {
    package private(set) var isReady = false
    /// When `look` is due again though nothing happened; nil is never.
    package private(set) var nextLook: Boottime?
    private let startedAt: Boottime
    private let pingInterval: Duration?
    private var nextPing: Boottime?
    private var nextExtension: Boottime?
    private var said: StatusLine?
    private var owesReady = false

    /// `watchdog` is the time after which the service manager gives up on a silent service.
    package init(watchdog: Duration?, at now: Boottime) {
        startedAt = now
        pingInterval = watchdog.map { $0 / 2 }
        nextPing = pingInterval.map { now + $0 }
    }

    /// What is to be said now that things stand like this. Units that wait for the readiness, early
    /// in the boot, are to find the gates' jobs queued.
    package mutating func look(
        at overview: Overview, isProgressing: Bool, problem: String?,
        gates: GateOverview = GateOverview(), at now: Boottime
    ) -> [Notification] {
        var messages: [Notification] = []
        if !isReady, gates.isReady, overview.services.allSatisfy({ $0.decidesWithin == nil }) {
            isReady = true
            nextExtension = nil
            messages.append(.ready)
        }
        if owesReady {
            owesReady = false
            said = nil
            messages.append(.ready)
        }
        messages += extendStart(overview, isProgressing, at: now)
        let pings = ping(isProgressing, at: now)
        let status = StatusLine(
            overview, problems: [problem].compactMap(\.self) + gates.problems)
        if !pings.isEmpty || said?.says(sameAs: status) != true {
            said = status
            messages.append(.status(status.text))
        }
        nextLook = [nextPing, nextExtension].compactMap(\.self).min()
        return messages + pings
    }

    /// The configuration was read again, whatever came of it: the service manager waits for a word.
    package mutating func reloaded() {
        owesReady = isReady
    }

    /// The last words did not get through: the status is to be said again.
    package mutating func wasNotHeard() {
        said = nil
    }

    private mutating func ping(_ isProgressing: Bool, at now: Boottime) -> [Notification] {
        guard let interval = pingInterval, let due = nextPing, due <= now else { return [] }
        guard isProgressing else {
            // Work that was only late may be found going on before the service manager gives up.
            nextPing = now + min(interval / 4, .seconds(1))
            return []
        }
        nextPing = now + interval
        return [.watchdog]
    }

    /// The start takes longer than the service manager waits for by itself: asks for a little more,
    /// again and again, so that a start that hangs still ends.
    private mutating func extendStart(
        _ overview: Overview, _ isProgressing: Bool, at now: Boottime
    ) -> [Notification] {
        guard let wait = overview.services.compactMap(\.decidesWithin).max(), !isReady,
            (now - startedAt) + wait > Self.startAllowance
        else {
            nextExtension = nil
            return []
        }
        if let due = nextExtension, now < due { return [] }
        nextExtension = now + Self.extensionStep / 3
        return isProgressing ? [.extendTimeout(Self.extensionStep)] : []
    }

    /// How long a start takes at most without a word to the service manager: well below the
    /// `TimeoutStartSec=` of the unit, which is systemd's default of 90 s.
    private static let startAllowance: Duration = .seconds(60)
    private static let extensionStep: Duration = .seconds(30)
}
