import CivilTime
import Decision
import JSON

/// A source of a world: its editions, and its random failures.
struct Server {
    let name: SourceName
    let editions: [Edition]
    /// Whether its format has versions, so that an older edition is no order.
    let countsEditions: Bool
    private var current = 0
    /// The newest edition that was served.
    private var served = 0
    private var outageEnds: Instant?

    init(_ name: SourceName, _ editions: [Edition], countsEditions: Bool) {
        self.name = name
        self.editions = editions
        self.countsEditions = countsEditions
    }

    /// The outcome of a fetch at `time`, and the edition that it brings in force, if any.
    mutating func outcome(
        at time: Instant, unless validators: Validators, _ weather: Weather,
        _ chronicle: inout Chronicle, using random: inout SeededRandom
    ) -> (outcome: Outcome, edition: Int?) {
        while current + 1 < editions.count, editions[current + 1].from <= time { current += 1 }
        if let fault = fault(at: time, weather, using: &random) {
            chronicle.record(fault.name)
            return (fault.outcome, nil)
        }
        if isBehind(weather, using: &random) {
            chronicle.record("rollback")
            // An edition that is newer than those before is news, although there is a newer one.
            let isNew = current - 1 >= served
            return serve(current - 1, at: time, unless: Validators(), isNew: isNew)
        }
        return serve(current, at: time, unless: validators, isNew: true)
    }

    private mutating func serve(
        _ edition: Int, at time: Instant, unless validators: Validators, isNew: Bool
    ) -> (outcome: Outcome, edition: Int?) {
        served = max(served, edition)
        var answer = editions[edition].answer
        if validators == answer.validators { return (.unchanged, edition) }
        answer.fetchedAt = time
        return (.answer(answer), isNew ? edition : nil)
    }

    /// Whether a replica answers that lags behind.
    private func isBehind(_ weather: Weather, using random: inout SeededRandom) -> Bool {
        countsEditions && current > 0 && Double.random(in: 0..<1, using: &random) < weather.rollback
    }

    private mutating func fault(
        at time: Instant, _ weather: Weather, using random: inout SeededRandom
    ) -> (name: String, outcome: Outcome)? {
        if let end = outageEnds {
            guard time >= end else { return ("outage", .failure(Self.down)) }
            outageEnds = nil
        }
        var chance = Double.random(in: 0..<1, using: &random)
        func falls(_ rate: Double) -> Bool {
            defer { chance -= rate }
            return chance >= 0 && chance < rate
        }
        if falls(weather.outage) {
            let length = weather.longestOutage * Double.random(in: 0..<1, using: &random)
            outageEnds = time + length
            return ("outage", .failure(Self.down))
        }
        if falls(weather.unreachable) { return ("unreachable", .failure(Self.down)) }
        if falls(weather.notFlags) { return ("not flags", .failure(Self.webPage)) }
        if falls(weather.refused) { return ("refused", .failure(Self.forbidden)) }
        if falls(weather.overloaded) { return ("overloaded", .failure(Self.busy)) }
        if falls(weather.wrongFlags) { return ("wrong flags", .answer(Self.wrong(at: time))) }
        return nil
    }

    private static let down = Failure(.unreachable, "connection refused")
    private static let webPage = Failure(.invalid, "the answer is a web page, not JSON")
    private static let forbidden = Failure(.refused, "403")
    private static let busy = Failure(.unreachable, "503", retryAfter: .seconds(120))

    private static func wrong(at time: Instant) -> Answer {
        let text = #"{"service_end":7,"state":7}"#
        return Answer(
            body: Array(text.utf8), flags: ["service_end": 7, "state": 7],
            validators: Validators(etag: "wrong"), fetchedAt: time)
    }
}

/// The rates of all failures in a world. A rate is per poll unless its comment says otherwise.
package struct Weather: Sendable {
    /// No response: a closed port, a time-out.
    package var unreachable = 0.02
    /// A response that is no flags: a web page, broken JSON.
    package var notFlags = 0.005
    /// Flags that no format can read.
    package var wrongFlags = 0.005
    /// An older edition comes, from a replica that lags behind.
    package var rollback = 0.005
    /// 401, 403.
    package var refused = 0.001
    /// 503 with a Retry-After of two minutes.
    package var overloaded = 0.002
    /// An outage begins, of up to `longestOutage`.
    package var outage = 0.0003
    package var longestOutage: Duration = .seconds(60 * 3600)
    /// The daemon is killed and started again.
    package var restart = 0.0003
    /// The host is rebooted, within some minutes.
    package var reboot = 0.0002
    /// An operator gives or releases an order.
    package var order = 0.001
    /// How often restarts and orders are while a service waits for its turn, or drains.
    package var inStep = 10.0
    /// The host sleeps, or the daemon is suspended, for one to `longestSleep` hours.
    package var sleep = 0.0002
    package var longestSleep: Int64 = 30
    /// A write fails. The rate is per write.
    package var failedWrite = 0.002

    package init() {}
}

/// What happened in a world: tests expect enough failures, and no violation.
package struct Chronicle: Sendable {
    package var polls = 0
    package var faults: [String: Int] = [:]
    /// How many edges came and were checked: ends, windows, midnights, staleness.
    package var edges = 0
    /// How many changes of state were published.
    package var changes = 0
    /// How often services waited for their turn and drained, and what came in between.
    package var steps: [String: Int] = [:]
    /// The violations of what the manual promises, a line each.
    package var violations: [String] = []

    mutating func record(_ fault: String) { faults[fault, default: 0] += 1 }
    mutating func record(step: String) { steps[step, default: 0] += 1 }
}
