import CivilTime

/// The refusal of a job by systemd. It is an alarm only if the system is not stopping, so it waits
/// for the answer to `askSystemState`; and it is reported once until the gate stands.
struct RefusedJob: Hashable, Sendable {
    private struct Refusal: Hashable, Sendable {
        let job: TargetJob
        let problem: String
    }

    /// The refusal that is not reported yet.
    private var pending: Refusal?
    private(set) var isReported = false

    /// systemd has refused a job.
    mutating func note(_ job: TargetJob, _ problem: String) {
        pending = Refusal(job: job, problem: problem)
    }

    /// The refusal means nothing: the system is stopping, or the bus is lost.
    mutating func drop() { pending = nil }

    /// Reports the pending refusal, unless one was reported before.
    mutating func report(of service: ServiceName, _ batch: inout GateBatch) {
        guard let refusal = pending else { return }
        pending = nil
        if !isReported {
            batch.announce(.jobRefused(service, refusal.job, problem: refusal.problem))
        }
        isReported = true
    }

    /// The gate stands, or something else was decided: the next refusal is news again.
    mutating func forget() { isReported = false }
}

/// How often in a row a gate was put back. If another process keeps moving it, moves and lines in
/// the journal are rate-limited.
struct Corrections: Hashable, Sendable {
    private var count = 0
    private var last: Boottime?

    /// Counts a deviation. Returns how long to wait before the gate is put back; nil for at once.
    mutating func next(at now: Boottime) -> Duration? {
        let isAgain = last.map { now - $0 < .seconds(60) } ?? false
        count = isAgain ? count + 1 : 1
        last = now
        return count <= Self.limit ? nil : GateMachine.backOff(count - Self.limit)
    }

    private static let limit = 3
}

/// Whether a service is configured, and if it is not, whether its attached units were reported:
/// their gate has no decision.
struct Orphans: Hashable, Sendable {
    private let service: ServiceName
    private(set) var isConfigured: Bool
    private var areReported = false

    /// The units of a service, none of which was named.
    init(of service: ServiceName, isConfigured: Bool) {
        self.service = service
        self.isConfigured = isConfigured
    }

    /// The service is configured from now on.
    mutating func configure() {
        isConfigured = true
        areReported = false
    }

    /// Names the units that are attached to a service which is not configured, once.
    mutating func report(_ units: Set<UnitName>, _ batch: inout GateBatch) {
        guard !isConfigured, !units.isEmpty, !areReported else { return }
        areReported = true
        batch.announce(.unitsOrphaned(service, units.sorted()))
    }
}
