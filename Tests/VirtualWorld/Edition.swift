import CivilTime
import Decision

/// The flags of a source from some time on.
struct Edition {
    enum Saying {
        case runs
        case countdown(Instant)
        /// Runs, with windows ahead, in their order.
        case windows([Range<Instant>])
    }

    let from: Instant
    let saying: Saying
    let answer: Answer
}

extension Edition {
    /// A service that ends again and again: after some weeks an end is announced, and it is withdrawn
    /// before it comes, or some days after.
    /// `hours` is about how long each flag is in force.
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

    /// Maintenance about twice a week, of seconds to hours, planned between one and two weeks ahead.
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
        var editions: [Edition] = []
        var week = start
        while week < start + length {
            let known = windows.filter {
                $0.upperBound > week && $0.lowerBound < week + .hours(336)
            }
            editions.append(
                try Edition(.windows(known), from: week, number: editions.count))
            week = week + .hours(168)
        }
        return editions
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
        case .windows(let windows):
            #"{"state":"running","version":\#(number),"windows":["#
                + windows.map {
                    #"{"from":"\#(Zone.utc.rfc3339($0.lowerBound))","#
                        + #""until":"\#(Zone.utc.rfc3339($0.upperBound))"}"#
                }.joined(separator: ",") + "]}"
        }
    }
}

extension Duration {
    static func hours(_ count: Int64) -> Duration { .seconds(count * 3600) }
}
