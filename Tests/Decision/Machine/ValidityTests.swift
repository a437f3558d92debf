import CivilTime
import Decision
import Support
import Testing

/// `valid_until` is always set, ahead, and not far: it tells readers that a daemon runs.
@Suite struct ValidityTests {
    /// Zones with unusual days, at the instants of those days.
    static let zones = [
        ("UTC", "2027-06-01T00:00:00Z"), ("Asia/Tokyo", "2026-12-31T15:00:00Z"),
        ("Europe/Berlin", "2027-10-30T22:00:00Z"), ("Europe/Berlin", "2027-03-27T23:00:00Z"),
        ("Africa/Cairo", "2027-04-29T21:59:59Z"), ("Pacific/Apia", "2011-12-30T09:59:59Z"),
        ("Antarctica/Casey", "2010-03-04T13:00:00Z"), ("Pacific/Kwajalein", "1993-08-21T11:59:00Z"),
        ("America/St_Johns", "2006-10-29T02:30:30Z"),
        ("Australia/Lord_Howe", "2027-04-03T13:00:00Z"),
        ("Pacific/Kiritimati", "2027-01-01T00:00:00Z"),
        ("America/Scoresbysund", "2027-03-28T00:30:00Z"),
    ]

    /// Bodies that lead to every state but `undecided`, which comes before the first of them.
    static let bodies = [
        #"{"service_end": "no"}"#, #"{"service_end": "over"}"#,
        #"{"service_end": "countdown", "service_countdown": "2099-01-01T00:00:00Z"}"#,
        #"{"service_end": "countdown", "service_countdown": "soon"}"#,
        #"{"service_end": "countdown", "service_countdown": "1980-01-01T00:00:00Z"}"#, "{}",
    ]

    @Test(arguments: zones) func validUntilIsAheadByAtMostTwentySixHours(
        _ name: String, _ start: String
    ) throws {
        for policy in [
            Policy(), Policy(maxStale: .seconds(90), whenStale: .closed),
            Policy(maxStale: .seconds(10 * 86_400), whenStale: .open),
        ] {
            for body in Self.bodies {
                var play = try Transcript(
                    [try service(policy: policy, zone: try zone(name))], start: start,
                    clockFloor: "1970-01-01T00:00:00Z")
                var effects = play.at(0, .started)
                effects += try play.at(0, "app", answers: body)
                for _ in 0..<40 { effects += play.atNextEdge() }
                try Self.check(effects)
            }
        }
    }

    private static func check(_ effects: [Effect]) throws {
        let records = effects.compactMap { effect in
            if case .publish(_, let record) = effect { record } else { nil }
        }
        #expect(!records.isEmpty)
        for record in records {
            let ahead = record.validUntil - record.decidedAt
            #expect(ahead > .seconds(60) && ahead <= .seconds(26 * 3600))
        }
        // It is renewed before it is over.
        for (before, after) in zip(records, records.dropFirst()) {
            #expect(after.decidedAt < before.validUntil)
        }
    }
}
