package import CivilTime
import Decision

/// When a stream is opened, given up and opened again, and which of its hints are passed on: events in, effects
/// out, without a clock or a network.
///
/// A stream is followed for ever, and never trusted: a silent one counts as dead, and one that sends too much
/// is given up. Each connection is a hint by itself, since the changes before it were missed.
///
/// The back-off is reset when a stream lasts, and when a poll succeeds after polls have failed. A success alone
/// does not count: a server that answers polls and ends each stream would be asked for a stream at every poll.
/// Polls may be an hour apart, so a lost connection is a hint too, from the second failure in a row on.
package struct StreamMachine: Sendable {
    /// The most bytes that may come within `floodWindow`: a stream of hints needs far fewer.
    package static let floodLimit = 16 << 20
    /// How long bytes are counted before the count is reset.
    package static let floodWindow = Duration.seconds(60)
    /// How long a stream must stay open to reset the back-off.
    private static let steady = Duration.seconds(10)

    /// `idle` ends with `.started`. Then `connecting` becomes `open` or `waiting`, `open` becomes `waiting`,
    /// and `waiting` becomes `connecting` when its time has come.
    private enum StreamPhase: Hashable, Sendable {
        case idle
        /// Waits for the end of the back-off. The server, or its refusal, allows no connection
        /// before `earliest`, also if a poll succeeds meanwhile.
        case waiting(until: Boottime, earliest: Boottime)
        case connecting(limit: Boottime)
        case open(Reception)
    }

    private struct Reception: Hashable, Sendable {
        let since: Boottime
        var receivedAt: Boottime
        /// Whether it has been open for `steady`.
        var isSteady = false
        var retryAfter: Duration?
        /// The end of the window in which bytes are counted.
        var windowEnd: Boottime
        var bytes = 0
    }

    private let policy: StreamPolicy
    private var phase = StreamPhase.idle
    private var allowance: HintAllowance
    /// The rate limit of the hints of lost connections: hints that the stream sends do not use it
    /// up.
    private var lossAllowance: HintAllowance
    private var random: SeededRandom
    /// How many streams in a row did not last, since the back-off began.
    private(set) package var failures = 0
    /// Whether polls have failed and none has succeeded since.
    private(set) package var arePollsFailing = false
    /// The failure that was reported, until a stream lasts.
    private var reportedFailure: Failure?
    private var slept: Boottime?
    private var effects: [StreamEffect] = []

    /// The machine of a stream that is not followed yet, beside polls at `interval`.
    package init(_ policy: StreamPolicy, interval: Duration, seed: UInt64) {
        self.policy = policy
        allowance = HintAllowance(policy.hints, interval: interval)
        lossAllowance = HintAllowance(.usual, interval: interval)
        random = SeededRandom(seed: seed)
    }

    /// Handles an event at `now`. The effects have to be performed in their order.
    package mutating func handle(_ event: StreamEvent, at now: Boottime) -> [StreamEffect] {
        switch event {
        case .started: start(at: now)
        case .opened:
            guard case .connecting = phase else { break }
            phase = .open(Reception(since: now, receivedAt: now, windowEnd: now + Self.floodWindow))
            allowance.request()
        case .received(let update): received(update, at: now)
        case .closed:
            connectionLost(Failure(.unreachable, "the server has ended the stream"), at: now)
        case .failed(let failure): connectionEnded(failure, at: now)
        case .lost(let failure): connectionLost(failure, at: now)
        case .pollFailed: arePollsFailing = true
        case .pollSucceeded: recover(at: now)
        case .retryLater(let wait):
            let end = now + min(wait, Retry.longestAsked)
            allowance.pause(until: end)
            lossAllowance.pause(until: end)
        case .woke: slept = nil
        }
        expire(at: now)
        let isHinted = allowance.admit(at: now)
        if lossAllowance.admit(at: now) || isHinted { effects.append(.hint) }
        setWake()
        defer { effects = [] }
        return effects
    }

    private mutating func start(at now: Boottime) {
        switch phase {
        case .waiting: break
        case .idle: connect(at: now)
        case .connecting, .open:
            effects.append(.disconnect)
            connect(at: now)
        }
    }

    /// The server was away and is back: no failure counts any more, and a wait ends as soon as it may.
    /// A stream that is open, or is about to be, goes on.
    private mutating func recover(at now: Boottime) {
        guard arePollsFailing else { return }
        arePollsFailing = false
        failures = 0
        if case .waiting(_, let earliest) = phase {
            phase = .waiting(until: max(now, earliest), earliest: earliest)
        }
    }

    private mutating func connect(at now: Boottime) {
        phase = .connecting(limit: now + policy.opening)
        effects.append(.connect)
    }

    private mutating func received(_ update: StreamUpdate, at now: Boottime) {
        guard case .open(var reception) = phase else { return }
        if now >= reception.windowEnd {
            reception.windowEnd = now + Self.floodWindow
            reception.bytes = 0
        }
        reception.bytes += update.bytes
        reception.receivedAt = now
        reception.retryAfter = update.retryAfter ?? reception.retryAfter
        phase = .open(reception)
        if update.isHint { allowance.request() }
        let failure =
            reception.bytes > Self.floodLimit
            ? Failure(.refused, "the stream brings more than \(Self.floodLimit) bytes in a minute")
            : update.failure
        guard let failure else { return }
        effects.append(.disconnect)
        connectionEnded(failure, at: now)
    }

    private mutating func expire(at now: Boottime) {
        switch phase {
        case .idle: break
        case .waiting(let moment, _): if moment <= now { connect(at: now) }
        case .connecting(let limit):
            if limit <= now { abandon("no answer within \(policy.opening)", at: now) }
        case .open(var reception):
            if reception.receivedAt + policy.silence <= now {
                abandon("the stream was silent for \(policy.silence)", at: now)
            } else if !reception.isSteady, reception.since + Self.steady <= now {
                reception.isSteady = true
                phase = .open(reception)
                failures = 0
                if reportedFailure != nil { effects.append(.setProblem(nil)) }
                reportedFailure = nil
            }
        }
    }

    private mutating func abandon(_ cause: String, at now: Boottime) {
        effects.append(.disconnect)
        connectionLost(Failure(.unreachable, cause), at: now)
    }

    /// The connection is gone, and maybe the server with it: a poll can tell.
    private mutating func connectionLost(_ failure: Failure, at now: Boottime) {
        let before = failures
        connectionEnded(failure, at: now)
        if failures > max(before, 1) { lossAllowance.request() }
    }

    /// The connection is gone: waits for the next. A healthy stream ending is routine; only the second
    /// failure in a row is told, and a refusal.
    private mutating func connectionEnded(_ failure: Failure, at now: Boottime) {
        let asked: Duration?
        switch phase {
        case .idle, .waiting: return
        case .connecting: asked = failure.retryAfter
        case .open(let reception): asked = failure.retryAfter ?? reception.retryAfter
        }
        failures += 1
        let isRefused = failure.kind == .refused
        if failures > 1 || isRefused { reportProblem(failure) }
        // If the server refuses, more requests bring nothing.
        let wait = isRefused ? between(policy.longestWait / 2, policy.longestWait) : backOff()
        let least = asked.map { spread($0) } ?? .zero
        let longer = max(wait, least)
        phase = .waiting(until: now + longer, earliest: now + (isRefused ? longer : least))
    }

    /// Full jitter below a ceiling that doubles from one failure to the next.
    private mutating func backOff() -> Duration {
        between(
            .zero, Retry.ceiling(after: failures, from: policy.firstWait, to: policy.longestWait))
    }

    /// A wait that the server asks for, and up to a tenth more: other hosts were told the same.
    private mutating func spread(_ asked: Duration) -> Duration {
        let least = min(max(asked, .zero), Retry.longestAsked)
        return between(least, least + least / 10)
    }

    private mutating func between(_ least: Duration, _ most: Duration) -> Duration {
        .microseconds(Int64.random(in: least.microseconds...most.microseconds, using: &random))
    }

    /// Reports a failure once for an outage, though its cause may change between attempts, and once
    /// more if the server turns out to refuse.
    private mutating func reportProblem(_ failure: Failure) {
        let isWorse = failure.kind == .refused && reportedFailure?.kind != .refused
        guard reportedFailure == nil || isWorse else { return }
        reportedFailure = failure
        effects.append(.setProblem(failure.detail))
    }

    /// Orders one wake-up, at the earliest time; again when that time changes or has come.
    private mutating func setWake() {
        let wake = [nextEdge, allowance.due, lossAllowance.due].compactMap(\.self).min()
        guard wake != slept else { return }
        slept = wake
        effects.append(.sleep(wake))
    }

    private var nextEdge: Boottime? {
        switch phase {
        case .idle: return nil
        case .waiting(let moment, _): return moment
        case .connecting(let limit): return limit
        case .open(let reception):
            let silent = reception.receivedAt + policy.silence
            return reception.isSteady ? silent : min(silent, reception.since + Self.steady)
        }
    }
}
