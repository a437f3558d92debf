package import CivilTime
package import Decision
package import Systemd

/// Decides what to tell the service manager, and when: a value without a socket or a clock.
///
/// READY once every service has its first decision. EXTEND_TIMEOUT only if a `first_timeout` needs it.
/// WATCHDOG only while there is progress. STATUS when something new is to be said, at most once a second, and
/// with each ping, so that the ages in it are current.
package struct NotifyState: Sendable {
    package private(set) var isReady = false
    /// When `dueMessages` is due again without an event; nil if it is not.
    package private(set) var nextWake: Boottime?
    private let startedAt: Boottime
    private let pingInterval: Duration?
    private var nextPing: Boottime?
    private var nextExtension: Boottime?
    private var sentStatus: StatusLine?
    private var statusAt: Boottime?
    private var owesReady = false

    /// `watchdog` is the time without a ping after which the daemon is killed; nil without a watchdog.
    package init(watchdog: Duration?, at now: Boottime) {
        startedAt = now
        pingInterval = watchdog.map { $0 / 2 }
        nextPing = pingInterval.map { now + $0 }
    }

    /// Whether the status was looked at within the last second, and nothing else is due: the timer looks again.
    package func isWaiting(at now: Boottime) -> Bool {
        guard isReady, !owesReady, sentStatus != nil, let statusAt, let nextWake else {
            return false
        }
        return nextWake > now && nextWake <= statusAt + Self.statusInterval
    }

    /// The messages that are due in this state. READY also waits for the first jobs of the gates to be
    /// queued, so that units ordered after the daemon find them.
    package mutating func dueMessages(
        for overview: Overview, isProgressing: @autoclosure () -> Bool, at now: Boottime
    ) -> [Notification] {
        var messages: [Notification] = []
        if !isReady, overview.isDecided, overview.condition.gates?.isReady ?? true {
            isReady = true
            sentStatus = nil
            nextExtension = nil
            messages.append(.ready)
        }
        if owesReady {
            owesReady = false
            sentStatus = nil
            messages.append(.ready)
        }
        messages += extendStart(overview, isProgressing, at: now)
        let pings = ping(isProgressing, at: now)
        var nextStatus: Boottime?
        if pings.isEmpty, sentStatus != nil, let statusAt, now < statusAt + Self.statusInterval {
            nextStatus = statusAt + Self.statusInterval
        } else {
            statusAt = now
            let status = StatusLine(overview)
            if !pings.isEmpty || sentStatus?.isSame(as: status) != true {
                sentStatus = status
                messages.append(.status(status.text))
            }
        }
        nextWake = [nextPing, nextExtension, nextStatus].compactMap(\.self).min()
        return messages + pings
    }

    /// The shortest time between two looks at what the status says.
    private static let statusInterval: Duration = .seconds(1)

    /// The configuration was read again: the next look sends READY, which ends the reload.
    package mutating func reloaded() { owesReady = isReady }

    /// The last messages were not sent: the next look sends the status again.
    package mutating func sendFailed() { sentStatus = nil }

    private mutating func ping(_ isProgressing: () -> Bool, at now: Boottime) -> [Notification] {
        guard let interval = pingInterval, let due = nextPing, due <= now else { return [] }
        guard isProgressing() else {
            // The work may only be late: look again before the service manager gives up.
            nextPing = now + min(interval / 4, .seconds(1))
            return []
        }
        nextPing = now + interval
        return [.watchdog]
    }

    /// Asks for more time for a long start: a little each time, so that a start that hangs still fails.
    private mutating func extendStart(
        _ overview: Overview, _ isProgressing: () -> Bool, at now: Boottime
    ) -> [Notification] {
        if isReady { return [] }
        if let due = nextExtension, now < due { return [] }
        guard let wait = overview.services.compactMap(\.decidesWithin).max(),
            (now - startedAt) + wait > Self.startAllowance
        else {
            nextExtension = nil
            return []
        }
        nextExtension = now + Self.extensionStep / 3
        return isProgressing() ? [.extendTimeout(Self.extensionStep)] : []
    }

    /// The longest start without asking for more time: well below `TimeoutStartSec=`, which is 90 s by default.
    private static let startAllowance: Duration = .seconds(60)
    private static let extensionStep: Duration = .seconds(30)
}

/// The line that `systemctl status` shows: short, however many services and problems there are.
struct StatusLine {
    private var lasting: [String] = []
    private var passing: [String] = []

    /// The first problems, and how many more there are; then the services and the sources, by name if they are few.
    init(_ overview: Overview) {
        let findings = overview.findings
        // Of one kind in one thing one is enough: the same full disk is in the way of many files.
        for finding in findings where lasting.count < Self.shown {
            let isOther = findings.first {
                $0.kind == finding.kind && $0.subject == finding.subject
            }
            if isOther == finding { lasting.append(Self.short(finding.sentence)) }
        }
        let more = findings.count - lasting.count
        if more > 0 { lasting.append("\(more) more \(more == 1 ? "problem" : "problems")") }
        let services = overview.services
        if services.count > Self.named {
            lasting.append(Self.words(overview.stateCounts, of: services.count))
        } else {
            lasting += services.map(Self.words)
        }
        let sources = overview.sources
        if sources.count > Self.named {
            let poll = sources.compactMap(\.nextPoll).min()
            let next = poll.map { ", next poll in \(Self.short($0))" } ?? ""
            passing.append("\(sources.count) sources\(next)")
        } else {
            passing += sources.map(Self.words)
        }
    }

    /// How many problems are told: a service in trouble, and the source that is the cause.
    private static let shown = 2
    /// How many services, or sources, are named.
    private static let named = 3

    /// The first line of a problem, without its end if that is far away.
    private static func short(_ problem: String) -> String {
        let line = problem.prefix { !$0.isNewline }
        return line.count > 160 ? line.prefix(159) + "…" : String(line)
    }

    /// `412 services: 1 ended, 2 maintenance, 409 running`, the most restrictive first.
    private static func words(_ counts: [State: Int], of count: Int) -> String {
        let parts = State.allCases.reversed().compactMap { state in
            counts[state].map { "\($0) \(state.rawValue)" }
        }
        return "\(count) services: \(parts.joined(separator: ", "))"
    }

    var text: String { (lasting + passing).joined(separator: "; ") }

    /// Whether the lines differ at most in ages and times of polls.
    func isSame(as other: StatusLine) -> Bool { lasting == other.lasting }

    private static func words(_ service: Overview.ServiceView) -> String {
        guard service.state == .countdown else {
            return "\(service.name): \(service.state.rawValue)"
        }
        let days = service.daysLeft.map { "\($0) \($0 == 1 ? "day" : "days")" } ?? "unknown days"
        return "\(service.name): countdown, \(days) left"
    }

    private static func words(_ source: Overview.SourceView) -> String {
        let age = source.age.map { "flags \(short($0)) old" } ?? "no flags yet"
        let poll = source.nextPoll.map { "next poll in \(short($0))" } ?? "asking now"
        return "\(source.name): \(age), \(poll)"
    }

    /// A duration in its largest unit: 45 s, 12 min, 3 h, 9 d.
    private static func short(_ time: Duration) -> String {
        switch time.wholeSeconds {
        case ..<120: "\(time.wholeSeconds) s"
        case ..<7200: "\(time.wholeSeconds / 60) min"
        case ..<172_800: "\(time.wholeSeconds / 3600) h"
        default: "\(time.wholeSeconds / 86_400) d"
        }
    }
}
