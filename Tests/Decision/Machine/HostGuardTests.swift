import CivilTime
import Decision
import Support
import Testing

/// The host guard: `close_at_once` and `confirm`, and what the ledger has of them.
struct HostGuardTests {
    static func plan(
        _ names: [String], limit: Int?, format: Format = .serviceEnd,
        policy: Policy = Policy(minClosed: .zero)
    ) throws -> Plan {
        Plan(
            sources: [SourcePlan(name: "app", interval: .seconds(60))],
            services: try names.map { try service($0, format: format, policy: policy) },
            guardLimits: GuardLimits(count: limit))
    }

    static func running(_ names: [String], limit: Int?) throws -> Transcript {
        try Transcript(plan: plan(names, limit: limit)).answered(#"{"service_end": "no"}"#, at: 1)
    }

    private static let end =
        #"{"service_end": "countdown", "service_countdown": "2027-03-01T12:20:00Z"}"#

    private static func ledger(in effects: [Effect]) -> Ledger? {
        var found: Ledger?
        for case .storeLedger(let ledger) in effects { found = ledger }
        return found
    }

    /// The stored answer is newer than the end, which an earlier answer announced.
    @Test(arguments: ["11:00:00", "12:15:00"])
    func aRestartKeepsSinceWhenAnEndIsKnown(since: String) throws {
        let known = try Instant(rfc3339: "2027-03-01T\(since)Z")
        let fetched = try Instant(rfc3339: "2027-03-01T12:18:00Z")
        let end = Announcement(from: try Instant(rfc3339: "2027-03-01T12:20:00Z"))
        var entry = Ledger.Entry(
            state: .countdown, since: known, generation: 7, bootID: "this-boot")
        entry.announced = [end: known]
        let memory = Memory(
            flags: [
                "app": Memory.StoredFlags(
                    answers: [try answer(Self.end, fetchedAt: fetched)], confirmedAt: fetched)
            ], ledger: Ledger(entries: ["a": entry, "b": entry]))
        var transcript = try Transcript(
            plan: Self.plan(["a", "b"], limit: 1), memory: memory,
            start: "2027-03-01T12:19:00Z"
        ).started()
        transcript.at(60, .woke)
        let state: State = since == "11:00:00" ? .ended : .countdown
        #expect(transcript.states == [state, state])
    }

    @Test func theLedgerHasSinceWhenAnEndIsKnown() throws {
        var transcript = try Self.running(["a"], limit: 1)
        let ledger = Self.ledger(in: try transcript.at(2, "app", answers: Self.end))
        let end = Announcement(from: try Instant(rfc3339: "2027-03-01T12:20:00Z"))
        let since = try Instant(rfc3339: "2027-03-01T12:00:02Z")
        #expect(ledger?.entries["a"]?.announced == [end: since])
    }

    /// Nobody else asks since when an end is known, and each write of the ledger would have those of all services.
    @Test func withoutALimitTheLedgerHasNoEnds() throws {
        var transcript = try Self.running(["a"], limit: nil)
        let ledger = Self.ledger(in: try transcript.at(2, "app", answers: Self.end))
        #expect(ledger?.entries["a"]?.state == .countdown)
        #expect(ledger?.entries["a"]?.announced == nil)
    }

    /// Several switches may announce many windows. The ledger has the next windows, and no past window.
    @Test func ofManyWindowsTheLedgerHasTheNext() throws {
        let day = { (year: Int) in
            #"{"from": "\#(year)-01-01T00:00:00Z", "until": "\#(year)-01-02T00:00:00Z"}"#
        }
        let service = try service(
            "a", format: .switchObject(.whole), policy: Policy(minClosed: .zero),
            sources: ["a", "b", "c"])
        var plan = Plan([service])
        plan.guardLimits.count = 1
        var transcript = try Transcript(plan: plan).started()
        var effects: [Effect] = []
        for (source, years) in [("a", 2000...2040), ("b", 2041...2100), ("c", 2101...2160)] {
            let windows = years.map(day).joined(separator: ", ")
            effects = try transcript.at(
                2, source, answers: #"{"state": "running", "windows": [\#(windows)]}"#)
        }
        let stored = try #require(Self.ledger(in: effects)?.entries["a"]?.announced)
        #expect(stored.count == 64)
        let first = try Instant(rfc3339: "2028-01-01T00:00:00Z")
        #expect(stored.keys.map(\.from).min() == first)
    }
}
