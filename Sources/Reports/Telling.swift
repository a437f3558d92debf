package import CivilTime
import Decision

/// What happens while a host tells another side of its state: a server of reports, or a cluster of etcd.
package enum TellingEvent: Hashable, Sendable {
    /// There is another side from now on, perhaps another one; or none any more. `spread`: over so long the hosts of a
    /// fleet tell of what they do at the same time.
    case configured(isOn: Bool, spread: Duration)
    /// Something has changed that is told.
    case changed
    case woke
    /// Whether every service is as wanted, or has failed to become so.
    case settledChecked(isSettled: Bool)
    case delivered
    /// Nothing was sent: the other side knows the present state already.
    case unchanged
    /// The other side wants a login, or a newer one.
    case loginNeeded
    /// The other side has not taken it. It asks for a pause of `retryAfter`; `isRefused`: our credentials do not
    /// suffice.
    case failed(retryAfter: Duration?, isRefused: Bool)
}

/// What to do for it.
package enum TellingEffect: Hashable, Sendable {
    /// See whether every service is as wanted; `settledChecked` answers at once.
    case checkSettled
    /// Send the present state; with `ifChanged` only if the other side does not know it. Only with `mayLogIn` a login
    /// is made for it.
    case send(ifChanged: Bool, mayLogIn: Bool)
    /// Drop what is being sent.
    case cancel
    /// Wake the machine at this time, and not at the one before; nil for never.
    case sleep(Boottime?)
}

/// Decides when the state of the host is told: soon after a change, once the units are as wanted or past their limit;
/// again every 12 to 15 minutes; and after a failure with a growing wait.
///
/// It keeps nothing to send: each attempt tells the state of its own moment. The waits are random, because the hosts of
/// a fleet obey at the same time, and because a cluster checks only 18 to 200 passwords a second.
package struct Telling: Hashable, Sendable {
    /// What the machine waits for.
    private enum Phase: Hashable, Sendable {
        /// There is nobody to tell. Leaves by `configured`.
        case off
        /// The other side knows the present state. Leaves for `gathering` by a change, for `sending` to repeat it.
        case resting
        /// Something has changed. Leaves for `sending` at the turn of this host, which is chosen once all is settled;
        /// at the limit, settled or not.
        case gathering(limit: Boottime, turn: Boottime?)
        /// Leaves for `resting` or `gathering` by a delivery, else for `retrying`.
        case sending(hasChanges: Bool)
        /// The last attempt has failed. Leaves for `sending`, whatever the units do: the other side waits already.
        case retrying
    }

    private var phase = Phase.off
    private var spread: Duration = .zero
    private var wakeAt: Boottime?
    private var sentAt: Boottime?
    /// When the state is repeated, whatever it is.
    private var repeatAt: Boottime?
    private var mayLogIn = false
    private var random: SeededRandom
    private var retry = Retry(first: .seconds(2), longest: .seconds(5 * 60))

    /// A machine with nobody to tell. `seed` makes the waits of this host differ from those of others.
    package init(seed: UInt64) { random = SeededRandom(seed: seed) }

    package var failures: Int { retry.failures }

    /// Handles an event, and says what to do now.
    package mutating func handle(_ event: TellingEvent, at now: Boottime) -> [TellingEffect] {
        switch event {
        case .configured(let isOn, let spread):
            self.spread = spread
            retry.succeeded()
            (sentAt, repeatAt, mayLogIn) = (nil, nil, false)
            guard isOn else {
                phase = .off
                return [.cancel] + sleep(until: nil)
            }
            return [.cancel] + gather(at: now)
        case .changed: return change(at: now)
        case .woke:
            guard let wakeAt, now >= wakeAt else { return [] }
            return wake(at: now)
        case .settledChecked(let isSettled):
            guard case .gathering(let limit, let turn) = phase else { return [] }
            return settledChecked(isSettled, limit, turn, at: now)
        case .delivered, .unchanged:
            guard case .sending(let hasChanges) = phase else { return [] }
            mayLogIn = false
            if event == .delivered {
                retry.succeeded()
                repeatAt = now + Self.period.scaled(by: factor(in: 0.8...1))
            }
            if hasChanges { return gather(at: now) }
            phase = .resting
            return sleep(until: repeatAt)
        case .loginNeeded where mayLogIn:
            return handle(.failed(retryAfter: nil, isRefused: true), at: now)
        case .loginNeeded:
            guard case .sending = phase else { return [] }
            // After a restart of the cluster all tokens are void, and every host asks for a new one. Perhaps the next
            // poll of the flags brings one.
            mayLogIn = true
            phase = .retrying
            return sleep(until: now + share(of: spread))
        case .failed(let retryAfter, let isRefused):
            guard case .sending = phase else { return [] }
            mayLogIn = false
            phase = .retrying
            let wait = retry.failed(
                retryAfter: retryAfter, isRefused: isRefused, using: &random)
            return sleep(until: now + wait)
        }
    }

    private mutating func change(at now: Boottime) -> [TellingEffect] {
        switch phase {
        case .off, .retrying: return []
        case .resting: return gather(at: now)
        case .gathering(let limit, nil):
            // Perhaps the last unit has stopped.
            let next = spaced(min(now + Self.delay, max(now, limit)))
            guard let wakeAt, next < wakeAt else { return [] }
            return sleep(until: next)
        case .gathering: return []
        case .sending:
            phase = .sending(hasChanges: true)
            return []
        }
    }

    /// Waits before it tells of a change: more of them follow.
    private mutating func gather(at now: Boottime) -> [TellingEffect] {
        phase = .gathering(limit: now + Self.limit + share(of: spread), turn: nil)
        return sleep(until: spaced(now + Self.delay.scaled(by: factor(in: 0.5...1.5))))
    }

    private mutating func settledChecked(
        _ isSettled: Bool, _ limit: Boottime, _ turn: Boottime?, at now: Boottime
    ) -> [TellingEffect] {
        guard isSettled else {
            phase = .gathering(limit: limit, turn: nil)
            return sleep(until: limit)
        }
        let turn = turn ?? min(limit, now + share(of: spread))
        guard turn > now else { return sendChanges(at: now) }
        phase = .gathering(limit: limit, turn: turn)
        return sleep(until: turn)
    }

    /// This moment, or a later one if it is too close to the last attempt.
    private func spaced(_ moment: Boottime) -> Boottime {
        max(moment, sentAt.map { $0 + Self.interval } ?? moment)
    }

    private mutating func wake(at now: Boottime) -> [TellingEffect] {
        switch phase {
        case .off, .sending: []
        case .resting, .retrying: send(at: now)
        case .gathering(let limit, _): now < limit ? [.checkSettled] : sendChanges(at: now)
        }
    }

    /// Something has changed; perhaps only times.
    private mutating func sendChanges(at now: Boottime) -> [TellingEffect] {
        send(ifChanged: repeatAt.map { now < $0 } ?? false, at: now)
    }

    private mutating func send(ifChanged: Bool = false, at now: Boottime) -> [TellingEffect] {
        phase = .sending(hasChanges: false)
        sentAt = now
        return sleep(until: nil) + [.send(ifChanged: ifChanged, mayLogIn: mayLogIn)]
    }

    private mutating func sleep(until moment: Boottime?) -> [TellingEffect] {
        wakeAt = moment
        return [.sleep(moment)]
    }

    /// A random share of a time; none of it is drawn where there is none.
    private mutating func share(of time: Duration) -> Duration {
        time == .zero ? .zero : time.scaled(by: factor(in: 0...1))
    }

    private mutating func factor(in range: ClosedRange<Double>) -> Double {
        Double.random(in: range, using: &random)
    }

    /// Between two repetitions at most.
    package static let period: Duration = .seconds(15 * 60)
    /// How long after that a host is not called silent: an attempt that fails is repeated within 5 minutes.
    package static let grace: Duration = .seconds(5 * 60)
    /// From a change to the first look whether all is settled, about.
    private static let delay: Duration = .seconds(2)
    /// Between two attempts that do not repeat a failed one, at least.
    private static let interval: Duration = .seconds(5)
    /// How long units are waited for that are on their way.
    private static let limit: Duration = .seconds(120)
}
