import CivilTime
import Decision
import Testing

/// What an event costs with many services: what has changed is looked at, and nothing else.
@Suite struct ScaleTests {
    private static let count = 1000

    /// Services `s0`, `s1` … of one source, each with a key of its name.
    private func plan(policy: Policy = Policy(minClosed: .zero)) throws -> Plan {
        Plan(
            try (0..<Self.count).map { number in
                try service(
                    "s\(number)", format: .switchObject(.member("s\(number)")), policy: policy)
            })
    }

    /// Flags by which every service runs but these.
    private func flags(ended: Set<Int> = [], without missing: Int? = nil) -> String {
        let members = (0..<Self.count).filter { $0 != missing }.map { number in
            "\"s\(number)\": {\"state\": \"\(ended.contains(number) ? "ended" : "running")\"}"
        }
        return "{\(members.joined(separator: ", "))}"
    }

    private func begin(policy: Policy = Policy(minClosed: .zero)) throws -> Transcript {
        var play = try Transcript(plan: try plan(policy: policy)).started()
        try play.at(1, "app", answers: flags())
        return play
    }

    private func published(_ effects: [Effect]) -> [String] {
        effects.compactMap { effect in
            if case .publish(let service, _) = effect { service.name.text } else { nil }
        }
    }

    @Test func anAnswerTouchesOnlyTheServicesThatItConcerns() throws {
        var play = try begin()
        let before = play.machine.publicationCount
        let effects = try play.at(60, "app", answers: flags(ended: [7]))
        let changed = effects.compactMap { effect -> Set<ServiceName>? in
            if case .storeLedger(_, let changed) = effect { changed } else { nil }
        }
        let seventh: ServiceName = try named("s7")
        #expect(published(effects) == ["s7"])
        #expect(changed == [[seventh]])
        #expect(play.machine.published(since: before).map(Array.init) == [seventh])
    }

    @Test func allServicesThatAnAnswerConcernsAreDecidedInTheirOrder() throws {
        var play = try begin()
        let chosen = Set((0..<Self.count).filter { !$0.isMultiple(of: 3) })
        let effects = try play.at(60, "app", answers: flags(ended: chosen))
        #expect(published(effects) == chosen.sorted().map { "s\($0)" })
        let back = try play.at(120, "app", answers: flags(ended: [998]))
        #expect(published(back) == chosen.sorted().filter { $0 != 998 }.map { "s\($0)" })
    }

    /// An answer that says the same of a service is a confirmation, as if it were the same answer.
    @Test func anAnswerAboutOthersConfirmsTheFlagsOfAService() throws {
        let policy = Policy(
            maxStale: .seconds(600), whenStale: .closed, minClosed: .zero)
        var play = try begin(policy: policy)
        try play.at(400, "app", answers: flags(ended: [7]))
        play.hang(until: 900)
        play.at(900, .woke)
        #expect(play.states.filter { $0 == .running }.count == Self.count - 1)
        play.hang(until: 1001)
        play.at(1001, .woke)
        #expect(play.states.allSatisfy { $0 != .running })
    }

    /// A service that an answer did not concern still sees the next one, also where its key is gone.
    @Test func whatDidNotChangeOnceMayChangeTheNextTime() throws {
        var play = try begin()
        try play.at(60, "app", answers: flags(ended: [7]))
        #expect(published(try play.at(120, "app", answers: flags(ended: [7, 8]))) == ["s8"])
        let invalid = try play.at(180, "app", answers: flags(ended: [7, 8], without: 9))
        #expect(published(invalid) == ["s9"])
        #expect(try published(play.at(240, "app", answers: flags(ended: [7, 8]))) == ["s9"])
        #expect(play.states.filter { $0 == .ended }.count == 2)
    }

    /// Readers look at all services if they have not looked for a long time.
    @Test func publicationsOfLongAgoAreNotRemembered() throws {
        var play = try begin()
        for minute in 1...5 {
            let all = Set(0..<Self.count)
            try play.at(
                Double(60 * minute), "app",
                answers: flags(ended: minute.isMultiple(of: 2) ? [] : all))
        }
        #expect(play.machine.published(since: 0) == nil)
        #expect(play.machine.published(since: play.machine.publicationCount)?.isEmpty == true)
        #expect(play.machine.published(since: play.machine.publicationCount + 1) == nil)
    }
}
