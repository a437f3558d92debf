package import CivilTime
import Decision

/// What happens to the reports of a host.
package enum ReportEvent: Hashable, Sendable {
    /// There is a sink from now on, perhaps another one; or none any more.
    case configured(hasSink: Bool)
    /// Something has changed that a report tells.
    case changed
    case woke
    /// Whether every service is as wanted, or has failed to become so.
    case settledChecked(isSettled: Bool)
    case delivered
    /// The report was not sent: it tells what the sink knows already.
    case unchanged
    /// The sink has not taken it. It asks for a pause of `retryAfter`; `isRefused`: our credentials do not suffice.
    case failed(retryAfter: Duration?, isRefused: Bool)
}

/// What to do for the reports.
package enum ReportEffect: Hashable, Sendable {
    /// See whether every service is as wanted; `settledChecked` answers at once.
    case checkSettled
    /// Make the report of the present state, and send it; with `ifChanged` only if the sink knows it not yet.
    case send(ifChanged: Bool)
    /// Drop the report that is being made, or is in flight.
    case cancel
    /// Wake the machine at this time, and not at the one before; nil for never.
    case sleep(Boottime?)
}

/// Decides when the state of the host is reported: soon after a change, once the units are as wanted; again every 12 to
/// 15 minutes; and after a failure with a growing wait.
///
/// It keeps no report: each attempt tells the state of its own moment.
package struct ReportMachine: Hashable, Sendable {
    /// What the machine waits for.
    private enum Phase: Hashable, Sendable {
        /// No sink is configured. Leaves by `configured`.
        case off
        /// The sink knows the present state. Leaves for `gathering` by a change, for `sending` to repeat the report.
        case resting
        /// Something has changed at this time. Leaves for `sending` once all is settled, or the limit is over.
        case gathering(since: Boottime)
        /// A report is being made or sent. Leaves for `resting` or `gathering` by its delivery, else for `retrying`.
        case sending(hasChanges: Bool)
        /// The last report was not delivered. Leaves for `sending`, whatever the units do: the sink waits already.
        case retrying
    }

    private var phase = Phase.off
    private var wakeAt: Boottime?
    private var sentAt: Boottime?
    /// When the last report is repeated, whatever it tells.
    private var repeatAt: Boottime?
    private var random: SeededRandom
    package private(set) var failures = 0

    /// A machine without a sink. `seed` makes the waits of this host differ from those of others.
    package init(seed: UInt64) { random = SeededRandom(seed: seed) }

    /// Handles an event, and says what to do now.
    package mutating func handle(_ event: ReportEvent, at now: Boottime) -> [ReportEffect] {
        switch event {
        case .configured(let hasSink):
            failures = 0
            (sentAt, repeatAt) = (nil, nil)
            guard hasSink else {
                phase = .off
                return [.cancel] + sleep(until: nil)
            }
            return [.cancel] + gather(at: now)
        case .changed: return change(at: now)
        case .woke:
            guard let wakeAt, now >= wakeAt else { return [] }
            return wake(at: now)
        case .settledChecked(let isSettled):
            guard case .gathering(let since) = phase else { return [] }
            return isSettled ? sendChanges(at: now) : sleep(until: since + Self.limit)
        case .delivered, .unchanged:
            guard case .sending(let hasChanges) = phase else { return [] }
            if event == .delivered {
                failures = 0
                repeatAt = now + Self.period.scaled(by: factor(in: 0.8...1))
            }
            if hasChanges { return gather(at: now) }
            phase = .resting
            return sleep(until: repeatAt)
        case .failed(let retryAfter, let isRefused):
            guard case .sending = phase else { return [] }
            failures += 1
            phase = .retrying
            return sleep(until: now + wait(retryAfter, isRefused: isRefused))
        }
    }

    private mutating func change(at now: Boottime) -> [ReportEffect] {
        switch phase {
        case .off, .retrying: return []
        case .resting: return gather(at: now)
        case .gathering(let since):
            // Perhaps the last unit has stopped.
            let next = spaced(min(now + Self.delay, max(now, since + Self.limit)))
            guard let wakeAt, next < wakeAt else { return [] }
            return sleep(until: next)
        case .sending:
            phase = .sending(hasChanges: true)
            return []
        }
    }

    /// Waits before it reports a change: more of them follow, and the hosts of a fleet change at the same time.
    private mutating func gather(at now: Boottime) -> [ReportEffect] {
        phase = .gathering(since: now)
        return sleep(until: spaced(now + Self.delay.scaled(by: factor(in: 0.5...1.5))))
    }

    /// This moment, or a later one if it is too close to the last report.
    private func spaced(_ moment: Boottime) -> Boottime {
        max(moment, sentAt.map { $0 + Self.interval } ?? moment)
    }

    private mutating func wake(at now: Boottime) -> [ReportEffect] {
        switch phase {
        case .off, .sending: []
        case .resting, .retrying: send(at: now)
        case .gathering(let since):
            now < since + Self.limit ? [.checkSettled] : sendChanges(at: now)
        }
    }

    /// Something has changed; perhaps only times.
    private mutating func sendChanges(at now: Boottime) -> [ReportEffect] {
        send(ifChanged: repeatAt.map { now < $0 } ?? false, at: now)
    }

    private mutating func send(ifChanged: Bool = false, at now: Boottime) -> [ReportEffect] {
        phase = .sending(hasChanges: false)
        sentAt = now
        return sleep(until: nil) + [.send(ifChanged: ifChanged)]
    }

    private mutating func sleep(until moment: Boottime?) -> [ReportEffect] {
        wakeAt = moment
        return [.sleep(moment)]
    }

    /// The wait after a failure: half of a ceiling to all of it. The ceiling doubles from 2 s to 5 min.
    private mutating func wait(_ retryAfter: Duration?, isRefused: Bool) -> Duration {
        // More attempts would not give access.
        let steps = isRefused ? Self.mostSteps : min(failures, Self.mostSteps)
        let ceiling = min(Self.longestWait, .seconds(1 << steps))
        let own = ceiling.scaled(by: factor(in: 0.5...1))
        guard let retryAfter else { return own }
        let asked = min(max(retryAfter, .zero), Self.longestAsked)
        return max(own, asked.scaled(by: factor(in: 1...1.1)))
    }

    private mutating func factor(in range: ClosedRange<Double>) -> Double {
        Double.random(in: range, using: &random)
    }

    /// From a change to its report, about.
    private static let delay: Duration = .seconds(2)
    /// Between two reports that are not repetitions of a failed one, at least.
    private static let interval: Duration = .seconds(5)
    /// How long a report waits for units that are on their way.
    private static let limit: Duration = .seconds(120)
    /// Between two reports at most, while nothing changes.
    private static let period: Duration = .seconds(15 * 60)
    private static let longestWait: Duration = .seconds(5 * 60)
    private static let longestAsked: Duration = .seconds(3600)
    private static let mostSteps = 9
}
