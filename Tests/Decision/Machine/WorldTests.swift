import CivilTime
import Decision
import Testing
import VirtualWorld

@Suite struct NoticeWorldTests {
    private static let leads: [Duration] =
        [30, 7, 1].map { .seconds($0 * 86_400) } + [.seconds(3600)]

    private static func body(end: String, windows: [(String, String)]) -> String {
        let list = windows.map { #"{"from": "\#($0)", "until": "\#($1)"}"# }
        return
            #"{"state": "countdown", "ends_at": "\#(end)", "windows": [\#(list.joined(separator: ", "))]}"#
    }

    private static let first = ("2027-01-11T00:00:00Z", "2027-01-11T02:00:00Z")
    private static let second = ("2027-02-10T00:00:00Z", "2027-02-10T01:00:00Z")

    /// The daemon is restarted on average every 72 minutes, the host now and then, and its clock is set by up
    /// to 23 days.
    @Test(.timeLimit(.minutes(5)), arguments: 1...8)
    func eachNoticeIsToldOnceOverAThousandRestartsAndStepsOfTheClock(_ seed: UInt64) throws {
        let start = try Instant(rfc3339: "2027-01-01T00:00:00Z")
        let end = try Instant(rfc3339: "2027-02-20T00:00:00Z")
        let (early, late) = ("2027-02-15T00:00:00Z", "2027-02-20T00:00:00Z")
        var world = try NoticeWorld(
            seed: seed, from: start, to: end, restarts: 1000, leads: Self.leads,
            bodies: [
                (start, Self.body(end: early, windows: [Self.first, Self.second])),
                (
                    try Instant(rfc3339: "2027-01-26T00:00:00Z"),
                    Self.body(end: late, windows: [Self.first, Self.second])
                ),
                (
                    try Instant(rfc3339: "2027-02-05T00:00:00Z"),
                    Self.body(end: late, windows: [Self.first])
                ),
            ])
        world.run(until: end)
        #expect(world.restarts == 1000)
        let days = { (count: Int) in "\(count * 86_400) s before" }
        let hour = "3600 s before"
        let expected =
            [days(30), days(7), days(1), hour].map { "window \(Self.first.0) \($0)" }
            + [days(30), days(7)].map { "window \(Self.second.0) \($0)" }
            + ["window-cancelled \(Self.second.0)"]
            + ["end \(early) \(days(30))", "end-moved \(late)"]
            + [days(7), days(1), hour].map { "end \(late) \($0)" }
        let published = world.published.map { Self.line($0.notice) }
        #expect(published.sorted() == expected.sorted())
        #expect(world.starts == published.count)
        for (at, notice) in world.published {
            guard let lead = notice.lead else { continue }
            let late = lead - (notice.announcement.from.instant - at)
            // A restart takes 20 minutes at most, and a clock within 5 minutes of the server's counts.
            let isInTime = late > .seconds(-600) && late < .seconds(2400)
            #expect(
                isInTime || at < start + .seconds(3600), "\(Self.line(notice)) at \(at.seconds)")
        }
    }

    private static func line(_ notice: PublicNotice) -> String {
        let time = Zone.utc.rfc3339(notice.announcement.from.instant).replacing("+00:00", with: "Z")
        let lead = notice.lead.map { " \($0.wholeSeconds) s before" } ?? ""
        return "\(notice.kind.rawValue) \(time)\(lead)"
    }
}

/// Random steps of the clock, sleeps, restarts and reboots, with servers whose clocks are right, wrong or
/// absent: every end comes as the manual says, or is held.
@Suite(.timeLimit(.minutes(5))) struct ClockWorldTests {
    private static let start = Instant(seconds: 1_806_000_000)

    /// With seed 4 no host reboots.
    @Test(arguments: [1, 2, 3, 5, 6, 7, 8] as [UInt64])
    func everyEndComesOrIsHeld(_ seed: UInt64) throws {
        let length = Duration.seconds(14 * 86_400)
        var world = try ClockWorld(seed: seed, from: Self.start, for: length)
        world.run(until: Self.start + length)
        let chronicle = world.chronicle
        #expect(chronicle.violations == [], "seed \(seed)")
        #expect(chronicle.polls > 3000 && chronicle.changes > 20)
        for mishap in [
            "step back", "step forward", "synchronised", "wrong server", "sleep", "restart",
            "reboot", "outage",
        ] {
            #expect(chronicle.faults[mishap, default: 0] > 0, "\(mishap), seed \(seed)")
        }
    }
}

/// Weeks of polling in virtual time, with more random failures than a real network has. The benchmark
/// runs the whole year.
@Suite(.timeLimit(.minutes(5))) struct VirtualYearTests {
    private static let start = Instant(seconds: 1_806_000_000)

    @Test(arguments: UInt64(1)...3)
    func everyEndWindowStepWaitAndDrainIsMetToTheSecondAndNoFetchComesTooSoon(_ seed: UInt64) throws
    {
        let length = Duration.seconds(28 * 86_400)
        var world = try World(
            seed: seed, from: Self.start, for: length, zone: try zone("Europe/Berlin"),
            interval: .seconds(300))
        world.run(until: Self.start + length)
        let chronicle = world.chronicle
        #expect(chronicle.violations == [], "seed \(seed), \(Weather())")
        #expect(chronicle.polls > 10_000 && chronicle.edges > 40 && chronicle.changes > 40)
        for fault in [
            "unreachable", "not flags", "wrong flags", "rollback", "refused", "overloaded",
            "outage", "restart", "reboot", "sleep", "failed write", "order",
        ] {
            #expect(chronicle.faults[fault, default: 0] > 0, "\(fault), seed \(seed)")
        }
        for step in [
            "wait", "closing during a wait", "drain", "opening during a drain",
            "closing without a drain", "restart in a step",
        ] {
            #expect(chronicle.steps[step, default: 0] > 0, "\(step), seed \(seed)")
        }
    }
}
