import CivilTime
import Decision
import Support
import Testing

/// The rule of the clock beside a direct reading of it, over the whole domain: what two sources say of the time, what
/// the kernel says, what is surely past, and for how long the daemon runs.
@Suite(.timeLimit(.minutes(5))) struct ClockRuleTests {
    /// What a source has said by the time of the question.
    enum Witness: CaseIterable {
        /// It is a file.
        case file
        /// It has not answered since the start, and has failed so often.
        case unheard, failedOnce, failedTwice
        /// It has answered without a `Date`.
        case dateless
        case near, ahead, behind
        /// Its `Date` was a day behind: three intervals ago, beside an `Age`, and twice the same.
        case old, cached, standing

        var isAway: Bool { self == .ahead || self == .behind }

        /// Whether it may give a `Date` and is still waited for.
        var isAwaited: Bool { self == .unheard || self == .failedOnce }

        /// Whether it gives a `Date`, as far as known.
        var givesDate: Bool { ![.file, .dateless, .cached, .standing].contains(self) }
    }

    /// What lies in the past later than the clock of the host.
    enum Past: CaseIterable { case nothing, build, fetch }

    struct Case {
        let own: Witness
        let other: Witness
        let isSynchronised: Bool?
        let past: Past
        /// Whether `first_timeout` is not over.
        let isYoung: Bool

        static let all = Witness.allCases.flatMap { own in
            Witness.allCases.flatMap { other in
                [true, false, nil].flatMap { isSynchronised in
                    Past.allCases.flatMap { past in
                        [true, false].map {
                            Case(
                                own: own, other: other, isSynchronised: isSynchronised, past: past,
                                isYoung: $0)
                        }
                    }
                }
            }
        }

        /// A `Date` that is earlier than the build confirms nothing.
        var isConfirmed: Bool {
            isSynchronised == true || past != .build && (own == .near || other == .near)
        }

        var isContradicted: Bool {
            past != .nothing || (own.isAway || other.isAway) && own != .near && other != .near
        }

        var isWaiting: Bool { isYoung && (own.isAwaited || other.isAwaited) }

        /// Whether the ends of `source` come.
        func comes(of source: Witness) -> Bool {
            if isSynchronised == true { return true }
            if source.isAway { return false }
            return isConfirmed || !isContradicted && !isWaiting
        }

        /// Whether an order expires.
        func expires(thatCloses: Bool) -> Bool {
            if isConfirmed { return true }
            if isContradicted { return false }
            return thatCloses
                ? !own.givesDate && !other.givesDate && !isYoung : !isWaiting
        }

        /// Whether the clock differs from anything.
        var hasDifference: Bool {
            own.isAway || other.isAway || past == .build || past == .fetch && !isConfirmed
        }

        /// A daemon at the time of the question, whose services `app` and `other` follow the sources of that name.
        func played(_ body: String, orders: [ServiceName: Override] = [:]) throws -> Transcript {
            let wait = Duration.seconds(isYoung ? 3600 : 30)
            let names = ["app", "other"]
            var plan = Plan(
                try names.map {
                    try service(
                        $0, policy: Policy(firstTimeout: wait, minClosed: .zero), sources: [$0])
                })
            let fetched = past == .fetch ? "2027-03-01T13:00:00Z" : "2027-03-01T11:00:00Z"
            var memory = Memory()
            for (position, witness) in [own, other].enumerated() {
                plan.sources[position].tellsTime = witness != .file
                let stored = try Memory.stored(body, fetchedAt: fetched, state: .countdown)
                memory.flags[plan.sources[position].name] = stored.flags["app"]
                memory.ledger.value = memory.ledger.value ?? Ledger()
                memory.ledger.value?.entries[plan.services[position].name] =
                    stored.ledger.value?.entries["shop"]
                memory.ledger.value?.entries[plan.services[position].name]?.passed = [:]
            }
            if !orders.isEmpty { memory.overrides = .known(orders) }
            var play = try Transcript(
                plan: plan, memory: memory,
                clockFloor: past == .build ? "2027-03-01T12:30:00Z" : "2026-01-01T00:00:00Z")
            play.isSynchronised = isSynchronised
            play.at(0, .started)
            for step in 0..<3 {
                for (position, witness) in [own, other].enumerated() {
                    let seconds = step == 0 ? 5 : 180 + Double(step * 5)
                    if let event = witness.event(
                        step, of: plan.sources[position].name, play.trueTime(at: seconds))
                    {
                        play.at(seconds, event)
                    }
                }
            }
            play.hang(until: 200)
            play.at(200, .woke)
            return play
        }
    }

    /// Ends two seconds before the question.
    private static let end = "2027-03-01T12:03:18Z"

    @Test func endsComeOrAreHeldAsTheRuleSays() throws {
        let body = #"{"service_end": "countdown", "service_countdown": "\#(Self.end)"}"#
        var (wrong, held): ([String], Int) = ([], 0)
        for item in Case.all {
            let play = try item.played(body)
            for (state, witness) in zip(play.states, [item.own, item.other]) {
                // What ended before the build has ended.
                let comes = item.past == .build || item.comes(of: witness)
                if !comes { held += 1 }
                if (state == .ended) != comes { wrong.append("\(witness) in \(item): \(state)") }
            }
            let isTold = play.machine.overview(at: play.now).findings.contains { $0.kind == .clock }
            let isHeld = play.states.contains(.countdown)
            if isTold != (isHeld || item.hasDifference) {
                wrong.append("told \(isTold) in \(item)")
            }
        }
        #expect(wrong.prefix(3) == [], "\(wrong.count) of \(Case.all.count)")
        #expect(held > 500)
    }

    @Test(arguments: [State.maintenance, .running])
    func ordersExpireOrAreHeldAsTheRuleSays(_ state: State) throws {
        let orders = ["app": try Override.order(state, until: Self.end)] as [ServiceName: Override]
        var wrong: [String] = []
        // Unknown is as not synchronised, as the other test shows.
        for item in Case.all where item.isSynchronised != nil {
            let play = try item.played(
                state == .running ? ServiceEnd.over : ServiceEnd.no, orders: orders)
            let isOver = play.states.first != state
            if isOver != item.expires(thatCloses: state == .maintenance) {
                wrong.append("\(isOver) in \(item)")
            }
        }
        #expect(wrong.prefix(3) == [], "\(wrong.count) of \(Case.all.count)")
    }
}

extension ClockRuleTests.Witness {
    /// What comes at one of three times: long ago, and twice lately.
    fileprivate func event(_ step: Int, of source: SourceName, _ time: Instant) -> Event? {
        let day = Duration.seconds(86_400)
        func answer(_ date: Instant?, age: Duration = .zero) -> Event {
            .fetchEnded(source, .unchanged, date: date, age: age)
        }
        let failure = Event.fetchEnded(
            source, .failure(Failure(.unreachable, "connection refused")))
        switch (self, step) {
        case (.failedOnce, 2), (.failedTwice, 1...2): return failure
        case (.old, 0): return answer(time - day)
        case (.file, 2), (.dateless, 2): return answer(nil)
        case (.near, 2): return answer(time - .seconds(300))
        case (.ahead, 2): return answer(time + day)
        case (.behind, 2): return answer(time - .seconds(301))
        case (.cached, 2): return answer(time - day, age: day)
        case (.standing, 1): return answer(time - day)
        case (.standing, 2): return answer(time - day - .seconds(5))
        default: return nil
        }
    }
}
