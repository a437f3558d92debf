import Decision
import Drills
import Gates
import Support
import Testing

@Suite struct DrillPlanTests {
    @Test func attachedUnitsDependentsAndThoseOfTheStateAreFound() throws {
        var systemd = StandInSystemd()
        try systemd.attach("web.service", to: .open)
        try systemd.attach("app.socket", to: .open)
        try systemd.attach("app.service", to: .open, isStarted: false)
        try systemd.attach("page.service", to: .maintenance, .inactive)
        try systemd.attach("last.service", to: .ended, .inactive)
        try systemd.add("needy.service", dependingOn: "web.service")
        let plan = try systemd.plan()
        #expect(
            plan.lines == [
                "app.service attached", "app.socket attached started",
                "web.service attached started", "needy.service on web.service",
                "page.service state started",
            ])
        #expect(plan.openTarget?.text == "killswitch-open@shop.target")
        #expect(plan.openTargetBefore.seen.active == .active)
        #expect(
            plan.closedTargets.map(\.text) == [
                "killswitch-closed@shop.target", "killswitch-maintenance@shop.target",
            ])
        #expect(try systemd.plan(to: .ended).lines.last == "last.service state started")
    }

    @Test func whatRunsInACountdownStopsWithIt() throws {
        var systemd = StandInSystemd()
        try systemd.attach("web.service", to: .open)
        try systemd.attach("banner.service", to: .countdown)
        #expect(try systemd.plan().lines == ["web.service attached started"])
        #expect(
            try systemd.plan(from: DesiredGate(gate: .open, state: .countdown)).lines == [
                "banner.service attached started", "web.service attached started",
            ])
    }

    @Test func dependentsAreFollowedAsFarAsAStopGoesAndOnlyThoseThatRun() throws {
        var systemd = StandInSystemd()
        try systemd.attach("web.service", to: .open)
        try systemd.attach("app.service", to: .open)
        try systemd.add("app.service", dependingOn: "web.service")
        try systemd.add("one.service", dependingOn: "web.service")
        try systemd.add("two.service", dependingOn: "one.service")
        try systemd.add("one.service", dependingOn: "two.service")
        try systemd.add("down.service", dependingOn: "web.service", .failed)
        try systemd.add("behind.service", dependingOn: "down.service")
        try systemd.add("killswitch-open@shop.target", dependingOn: "web.service")
        #expect(
            try systemd.plan().lines == [
                "app.service attached started", "web.service attached started",
                "one.service on web.service", "two.service on one.service",
            ])
    }

    /// What stands behind a second gate stays under that one.
    @Test func aUnitOfTwoStatesIsMovedIfOneOfThemEnds() throws {
        var systemd = StandInSystemd()
        try systemd.attach("web.service", to: .open)
        try systemd.attach("both.service", to: .variant("b"))
        try systemd.attach("web.service", to: .variant("b"))
        #expect(
            try systemd.plan(from: DesiredGate(gate: .open, state: .running, variant: "b"))
                .lines
                == ["web.service attached started"])
    }

    @Test func aPlanHasNoAttachedUnitIfNoneIsAttachedToTheOpenGate() throws {
        var systemd = StandInSystemd()
        try systemd.attach("page.service", to: .maintenance, .inactive)
        #expect(try systemd.plan().attached.isEmpty)
    }

    // MARK: How far it is

    private struct Play {
        let plan: DrillPlan
        var seen: [UnitName: UnitStatus] = [:]

        init() throws {
            var systemd = StandInSystemd()
            try systemd.attach("web.service", to: .open)
            try systemd.add("needy.service", dependingOn: "web.service")
            try systemd.attach("page.service", to: .maintenance, .inactive)
            plan = try systemd.plan()
            for unit in plan.units { seen[unit.name] = unit.before.seen }
            try set("killswitch-open@shop.target", .active)
        }

        mutating func set(_ unit: String, _ active: ActiveState, hasJob: Bool = false) throws {
            seen[try unitName(unit)] = UnitStatus(active, hasJob: hasJob)
        }
    }

    @Test func startsByHandWaitForTheLastStopAndForTheTarget() throws {
        var play = try Play()
        #expect(!play.plan.isAllDown(play.seen))
        try play.set("web.service", .inactive)
        try play.set("needy.service", .deactivating, hasJob: true)
        try play.set("killswitch-open@shop.target", .active, hasJob: true)
        #expect(!play.plan.isAllDown(play.seen))
        try play.set("killswitch-open@shop.target", .inactive)
        #expect(!play.plan.isAllDown(play.seen))
        try play.set("needy.service", .failed)
        #expect(play.plan.isAllDown(play.seen))
        #expect(!play.plan.isClosed(play.seen))
        try play.set("killswitch-closed@shop.target", .active)
        try play.set("killswitch-maintenance@shop.target", .active)
        try play.set("page.service", .inactive, hasJob: true)
        #expect(!play.plan.isClosed(play.seen))
        try play.set("page.service", .active)
        #expect(play.plan.isClosed(play.seen))
    }

    struct Settling: CustomTestStringConvertible, Sendable {
        let unit: String
        let active: ActiveState
        var hasJob = false
        var after: Duration = .zero
        let isSettled: Bool
        var testDescription: String { "\(unit) \(active) \(hasJob ? "with a job " : "")\(after)" }
    }

    @Test(arguments: [
        Settling(unit: "web.service", active: .active, isSettled: true),
        Settling(unit: "web.service", active: .failed, isSettled: true),
        Settling(unit: "web.service", active: .activating, after: .seconds(9), isSettled: false),
        Settling(
            unit: "web.service", active: .inactive, hasJob: true, after: .seconds(9),
            isSettled: false),
        Settling(unit: "web.service", active: .inactive, isSettled: false),
        Settling(unit: "web.service", active: .inactive, after: .seconds(1), isSettled: true),
        Settling(unit: "needy.service", active: .inactive, isSettled: false),
        Settling(unit: "needy.service", active: .inactive, after: .seconds(1), isSettled: true),
        Settling(unit: "page.service", active: .inactive, isSettled: true),
        Settling(unit: "page.service", active: .deactivating, isSettled: false),
    ])
    func aUnitHasSettledWhenItIsAtRestAndAwaitsNoStart(_ settling: Settling) throws {
        let unit = try #require(Play().plan.units.first { $0.name.text == settling.unit })
        #expect(
            unit.hasSettled(
                UnitStatus(settling.active, hasJob: settling.hasJob), after: settling.after)
                == settling.isSettled)
    }
}
