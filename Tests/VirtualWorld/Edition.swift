import CivilTime
import Decision

/// The flags of a source from some time on.
struct Edition {
    enum Saying {
        case runs
        case countdown(Instant)
        /// Runs, with windows ahead, in their order. With steps they close the hosts that a step has reached. Without
        /// `drains` units stop at once.
        case windows([Range<Instant>], steps: [Step] = [], drains: Bool = true)
    }

    /// From a time on, a rollout has reached the slots below this percentage.
    struct Step {
        let at: Instant
        let percent: Int
    }

    let from: Instant
    let saying: Saying
    let answer: Answer

    private init(from: Instant, saying: Saying, answer: Answer) {
        (self.from, self.saying, self.answer) = (from, saying, answer)
    }
}

extension Edition {
    /// A service that ends again and again: after some weeks an end is announced, and it is withdrawn before it comes,
    /// or some days after. `hours` is about how long each flag is in force.
    static func ends(
        from start: Instant, for length: Duration, every hours: ClosedRange<Int64> = 24...600,
        using random: inout SeededRandom
    ) throws -> [Edition] {
        var editions = [try Edition(.runs, from: start, number: 0)]
        var time = start
        while time < start + length {
            time = time + .hours(.random(in: hours, using: &random))
            let end =
                time + .seconds(Int64.random(in: 3600...hours.upperBound * 1700, using: &random))
            editions.append(try Edition(.countdown(end), from: time, number: editions.count))
            time = time + .hours(.random(in: 1...max(hours.upperBound * 3 / 5, 2), using: &random))
            editions.append(try Edition(.runs, from: time, number: editions.count))
        }
        return editions
    }

    /// Maintenance about twice a week, of seconds to hours, planned between one and two weeks ahead. Some of it becomes
    /// an emergency, is withdrawn, or comes back.
    static func windows(
        from start: Instant, for length: Duration, using random: inout SeededRandom
    ) throws -> [Edition] {
        var windows: [Range<Instant>] = []
        var time = start
        while time < start + length + .hours(336) {
            time = time + .seconds(Int64.random(in: 60...600_000, using: &random))
            let until = time + .seconds(Int64.random(in: 30...14_400, using: &random))
            windows.append(time..<until)
            time = until
        }
        var changes: [(at: Instant, change: Change)] = []
        var week = start
        while week < start + length {
            changes.append((week, .week(steps(from: week, using: &random))))
            week = week + .hours(168)
        }
        for (number, window) in windows.enumerated() where window.lowerBound < start + length {
            changes += Self.changes(of: number, during: window, using: &random)
        }
        changes.sort { $0.at < $1.at }
        var (steps, drains, withdrawn) = ([Step](), true, Set<Int>())
        week = start
        return try changes.enumerated().map { number, next in
            switch next.change {
            case .week(let new): (week, steps) = (next.at, new)
            case .emergency(let isOver): drains = isOver
            case .withdrawal(let window): withdrawn.insert(window)
            case .return(let window): withdrawn.remove(window)
            }
            let known = windows.enumerated().filter {
                $0.element.upperBound > week && $0.element.lowerBound < week + .hours(336)
                    && !withdrawn.contains($0.offset)
            }
            return try Edition(
                .windows(known.map(\.element), steps: steps, drains: drains), from: next.at,
                number: number)
        }
    }

    /// Why the calendar publishes another edition.
    private enum Change {
        case week([Step])
        case emergency(isOver: Bool)
        case withdrawal(Int)
        case `return`(Int)
    }

    /// What becomes of a window: of four, one is an emergency from some minutes on or from before, and two are
    /// withdrawn while they are open, the second of which comes back.
    private static func changes(
        of number: Int, during window: Range<Instant>, using random: inout SeededRandom
    ) -> [(at: Instant, change: Change)] {
        let first = window.lowerBound + .seconds(Int64.random(in: -600...1800, using: &random))
        let second = first + .seconds(Int64.random(in: 60...1800, using: &random))
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            return [
                (first, .emergency(isOver: false)),
                (max(second, window.upperBound), .emergency(isOver: true)),
            ]
        case 1: return [(first, .withdrawal(number))]
        case 2: return [(first, .withdrawal(number)), (second, .return(number))]
        default: return []
        }
    }

    /// In one week of four a rollout of up to four steps.
    private static func steps(from week: Instant, using random: inout SeededRandom) -> [Step] {
        guard Int.random(in: 0..<4, using: &random) == 0 else { return [] }
        var steps: [Step] = []
        var (time, percent) = (week, 0)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            time = time + .seconds(Int64.random(in: 1...200_000, using: &random))
            percent = Int.random(in: percent...100, using: &random)
            steps.append(Step(at: time, percent: percent))
        }
        return steps
    }

    /// The same as a document that alice has signed at this time.
    func signed(version: Int, expires: Instant) throws -> Edition {
        let members =
            #","version":\#(version),"audience":"prod","issued":"\#(Zone.utc.rfc3339(from))","#
            + #""expires":"\#(Zone.utc.rfc3339(expires))"}"#
        let body = Array(answer.body.dropLast() + members.utf8)
        let flags = try FlagDocument.parse(body)
        let signed = SignedAnswer(try SignedMetadata(flags, digest: body), by: ["alice"])
        return Edition(
            from: from, saying: saying,
            answer: Answer(
                body: body, flags: flags, validators: answer.validators, fetchedAt: from,
                signed: signed))
    }

    private init(_ saying: Saying, from: Instant, number: Int) throws {
        self.from = from
        self.saying = saying
        let body = Array(saying.body(number).utf8)
        answer = Answer(
            body: body, flags: try FlagDocument.parse(body),
            validators: Validators(etag: "\(number)"), fetchedAt: from)
    }
}

extension Edition.Saying {
    fileprivate func body(_ number: Int) -> String {
        switch self {
        case .runs: #"{"service_end":"no","edition":\#(number)}"#
        case .countdown(let end):
            #"{"service_end":"countdown","service_countdown":"\#(Zone.utc.rfc3339(end))"}"#
        case .windows(let windows, let steps, let drains):
            #"{"state":"running","version":\#(number),"drain":\#(drains),"#
                + #""rollout":\#(Self.rollout(steps)),"windows":["#
                + windows.map {
                    #"{"from":"\#(Zone.utc.rfc3339($0.lowerBound))","#
                        + #""until":"\#(Zone.utc.rfc3339($0.upperBound))"}"#
                }.joined(separator: ",") + "]}"
        }
    }
}

extension Edition.Saying {
    private static func rollout(_ steps: [Edition.Step]) -> String {
        guard !steps.isEmpty else { return "null" }
        let texts = steps.map { #"{"at":"\#(Zone.utc.rfc3339($0.at))","percent":\#($0.percent)}"# }
        return "[\(texts.joined(separator: ","))]"
    }
}

extension Duration {
    static func hours(_ count: Int64) -> Duration { .seconds(count * 3600) }
}
