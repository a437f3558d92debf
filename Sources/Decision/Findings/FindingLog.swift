package import CivilTime

/// The findings of one machine at its last look: since when each lasts, and which came or are over since then.
///
/// A finding is told when it comes and when it is over, however its words change in between. What comes again and
/// again is told a few times an hour, and an end only of what was told.
package struct FindingLog: Hashable, Sendable {
    /// The findings of the last look, in its order.
    package private(set) var present: [Finding] = []
    /// Those present whose coming is in the log.
    private var logged: Set<Finding.Identity> = []
    private var counts: [Topic: Count] = [:]

    /// What is told so many times an hour together.
    private struct Topic: Hashable {
        let subject: Finding.Subject
        let kind: Finding.Kind
    }

    private struct Count: Hashable {
        let since: Boottime
        var lines = 0
    }

    private static let period: Duration = .seconds(3600)

    package init() {}

    /// Looks again. Returns those that are over, and those that came.
    package mutating func update(
        to found: [Finding], at now: Boottime
    ) -> (over: [Finding], came: [Finding]) {
        if found.isEmpty, present.isEmpty { return ([], []) }
        let known = Dictionary(present.map { ($0.identity, $0) }) { first, _ in first }
        present = found.map { finding in
            var finding = finding
            finding.since = known[finding.identity]?.since ?? now
            return finding
        }
        let identities = Set(present.map(\.identity))
        let over = known.values.filter { !identities.contains($0.identity) }
            .filter { logged.remove($0.identity) != nil }
            .sorted { $0.sentence < $1.sentence }
        // What lasts is told as soon as it may be, also where it came too often before.
        let came = present.filter { tells($0, at: now) }
        return (over, came)
    }

    /// Whether a finding that comes is told. Each is told once though several of them have one identity.
    private mutating func tells(_ finding: Finding, at now: Boottime) -> Bool {
        guard finding.isLogged, !logged.contains(finding.identity) else { return false }
        let topic = Topic(subject: finding.subject, kind: finding.kind)
        var count = counts[topic] ?? Count(since: now)
        if now - count.since >= Self.period {
            counts = counts.filter { now - $0.value.since < Self.period }
            count = Count(since: now)
        }
        guard count.lines < finding.kind.linesPerHour else { return false }
        count.lines += 1
        counts[topic] = count
        logged.insert(finding.identity)
        return true
    }
}

extension Finding.Kind {
    /// How often findings of one kind and subject are told. The conditions of a template each have a warning.
    fileprivate var linesPerHour: Int { self == .sourceWarning ? 20 : 6 }
}
