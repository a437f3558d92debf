import CivilTime
import Decision
import Support
import Testing

/// What is told of announced ends and windows, and when. The transcripts begin at 2027-03-01T12:00:00Z.
@Suite struct PublicNoticeTests {
    private static let day: Int64 = 86_400

    private func shop(_ leads: [Int64], policy: Policy = Policy()) throws -> Service {
        var service = try service(format: .switchObject(.whole), policy: policy)
        service.notifyBefore = leads.map { .seconds($0) }
        return service
    }

    private func countdown(_ end: String) -> String {
        #"{"state": "countdown", "ends_at": "\#(end)"}"#
    }

    /// The notices of an effect list, and whether units pass them on.
    private func published(_ effects: [Effect]) -> [String] {
        effects.compactMap { effect in
            switch effect {
            case .log(.noticePublished(let service, let notice)): notice.sentence(of: service)
            case .announce(_, .notice): "pass on"
            default: nil
            }
        }
    }

    @Test func eachIsToldAtItsTimeAndNotAtAnotherPoll() throws {
        var play = try Transcript([try shop([Self.day, 3600, 60])]).started()
        try play.at(0, "app", answers: countdown("2027-03-03T12:00:00Z"))
        var times: [Double: [String]] = [:]
        for time in stride(from: 0.0, through: 172_800, by: 60) {
            let new = published(play.at(time, .fetchEnded("app", .unchanged)))
            if !new.isEmpty { times[time] = new }
        }
        #expect(
            times == [
                86_400: ["shop: it ends in 1 day, at 2027-03-03T12:00:00+00:00", "pass on"],
                169_200: ["shop: it ends in 1 hour, at 2027-03-03T12:00:00+00:00", "pass on"],
                172_740: ["shop: it ends in 60 seconds, at 2027-03-03T12:00:00+00:00", "pass on"],
            ])
    }

    /// `notify_before` longer than the countdown: the missed ones are not told late.
    @Test func ofThoseThatWereMissedTheNearestIsTold() throws {
        var play = try Transcript([try shop([30, 7, 1].map { $0 * Self.day })]).started()
        let effects = try play.at(0, "app", answers: countdown("2027-03-06T12:00:00Z"))
        #expect(
            published(effects) == [
                "shop: it ends in 5 days, at 2027-03-06T12:00:00+00:00", "pass on",
            ])
        #expect(
            play.ledger.entries["shop"]?.published == [
                Announcement(from: try Instant(rfc3339: "2027-03-06T12:00:00Z")): [
                    .seconds(7 * Self.day)
                ]
            ])
    }

    @Test(arguments: [
        (
            "moved", #"{"state": "countdown", "ends_at": "2027-03-10T12:00:00Z"}"#,
            [
                "shop: its end of 2027-03-04T12:00:00+00:00 is moved to 2027-03-10T12:00:00+00:00",
                "pass on",
            ]
        ),
        (
            "cancelled", #"{"state": "running"}"#,
            ["shop: its end of 2027-03-04T12:00:00+00:00 is cancelled", "pass on"]
        ),
        ("ended early", #"{"state": "ended"}"#, []),
        ("moved into the past", #"{"state": "countdown", "ends_at": "2027-02-10T12:00:00Z"}"#, []),
        ("without its date", #"{"state": "countdown"}"#, []),
        (
            "with another text",
            #"{"state": "countdown", "ends_at": "2027-03-04T12:00:00Z", "title": "Bye"}"#, []
        ),
    ])
    func aMovedOrCancelledEndIsToldOnce(
        _ name: String, _ next: String, _ expected: [String]
    ) throws {
        var play = try Transcript([try shop([7 * Self.day])])
            .answered(countdown("2027-03-04T12:00:00Z"))
        #expect(published(try play.at(60, "app", answers: next)) == expected, "\(name)")
        #expect(published(play.at(120, .fetchEnded("app", .unchanged))) == [], "\(name)")
    }

    @Test func noneIsToldTwiceAfterAStepOfTheClockOrARestart() throws {
        var play = try Transcript([try shop([2 * Self.day, Self.day])])
            .answered(countdown("2027-03-03T10:00:00Z"))
        play.stepClock(100, by: .seconds(-40 * Self.day))
        #expect(try published(play.at(200, .fetchEnded("app", .unchanged))) == [])
        var memory = try Memory.stored(
            countdown("2027-03-03T10:00:00Z"), fetchedAt: "2027-03-01T12:00:00Z", state: .countdown)
        memory.ledger = .known(play.ledger)
        var next = try Transcript(
            plan: Plan([try shop([2 * Self.day, Self.day])]), memory: memory,
            start: "2027-03-01T13:00:00Z")
        #expect(published(next.at(0, .started)) == [])
        #expect(published(try next.at(1, "app", answers: countdown("2027-03-03T10:00:00Z"))) == [])
    }

    /// The flags may have changed while the daemon was down.
    @Test func afterAStartTheFirstAnswerIsAwaited() throws {
        let memory = try Memory.stored(
            countdown("2027-03-02T10:00:00Z"), fetchedAt: "2027-02-25T12:00:00Z", state: .countdown)
        var play = try Transcript(plan: Plan([try shop([Self.day])]), memory: memory)
        #expect(published(play.at(0, .started)) == [])
        #expect(published(try play.at(1, "app", answers: #"{"state": "running"}"#)) == [])
        var silent = try Transcript(plan: Plan([try shop([Self.day])]), memory: memory).started()
        #expect(
            published(silent.at(30, .woke)).first
                == "shop: it ends in 22 hours, at 2027-03-02T10:00:00+00:00")
    }

    @Test func withoutNotifyBeforeNothingIsToldOrStored() throws {
        var play = try Transcript([try shop([])]).started()
        #expect(published(try play.at(0, "app", answers: countdown("2027-03-01T12:30:00Z"))) == [])
        #expect(published(try play.at(60, "app", answers: #"{"state": "running"}"#)) == [])
        #expect(play.ledger.entries["shop"]?.published == nil)
    }

    /// Several switches may announce many windows.
    @Test func aLargeCalendarCostsAsMuchAsItsNextWindows() throws {
        let windows = (0..<120).map { index in
            let from = Instant(seconds: 1_803_902_400 + Int64(index + 1) * 86_400)
            return
                #"{"from": "\#(Zone.utc.rfc3339(from))", "until": "\#(Zone.utc.rfc3339(from + .seconds(60)))"}"#
        }
        var shop = try shop([3600])
        shop.switches = ["a", "b"].map {
            Switch(source: shop.switches[0].source, format: .switchObject(.member($0)))
        }
        var play = try Transcript([shop]).started()
        let member = { (windows: ArraySlice<String>) in
            #"{"state": "running", "windows": [\#(windows.joined(separator: ","))]}"#
        }
        try play.at(
            0, "app",
            answers: #"{"a": \#(member(windows[..<60])), "b": \#(member(windows[60...]))}"#)
        #expect(play.ledger.entries["shop"]?.published?.count == 64)
    }
}
