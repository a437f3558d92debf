import Decision
import EventLoop
import Gates
import Support
import SystemdUnits
import Testing

/// The order of the calls to systemd, and how many are in flight.
struct PendingCallsTests {
    private func target(_ service: String, _ kind: GateTarget.Kind) throws -> GateTarget {
        GateTarget(service: try #require(ServiceName(service)), kind: kind)
    }

    private func taken(_ calls: inout PendingCalls) -> [PendingCalls.Call] {
        var taken: [PendingCalls.Call] = []
        while let call = calls.next() { taken.append(call) }
        return taken
    }

    /// The bus refuses the call that waits for a 129th answer, and the gate was closed a second later.
    @Test func aConnectionWaitsForFewerAnswersThanTheBusAllows() throws {
        var calls = PendingCalls()
        for number in 0..<300 { calls.append(.start(try target("s\(number)", .closed))) }
        #expect(taken(&calls).count == 64)
        calls.jobAnswered()
        calls.jobAnswered()
        #expect(
            taken(&calls) == [
                .job(.start(try target("s64", .closed))), .job(.start(try target("s65", .closed))),
            ])
        for _ in 0..<234 {
            calls.jobAnswered()
            #expect(taken(&calls).count == 1)
        }
        calls.jobAnswered()
        #expect(taken(&calls).isEmpty)
    }

    @Test func allGatesBeginToCloseBeforeTheFirstTargetOfAState() throws {
        var calls = PendingCalls()
        for service in ["a", "b"] {
            calls.append(.start(try target(service, .closed)))
            calls.append(.start(try target(service, .updateRequired)))
        }
        #expect(
            taken(&calls) == [
                .job(.start(try target("a", .closed))), .job(.start(try target("b", .closed))),
                .job(.start(try target("a", .updateRequired))),
                .job(.start(try target("b", .updateRequired))),
            ])
    }

    /// The target of a state stops the open target: a start that was overtaken would close the gate again.
    @Test func theJobsOfOneServiceKeepTheirOrder() throws {
        var calls = PendingCalls()
        calls.append(.start(try target("a", .closed)))
        calls.append(.start(try target("a", .updateRequired)))
        calls.append(.start(try target("b", .updateRequired)))
        calls.append(.stop(try target("a", .countdown)))
        calls.append(.start(try target("a", .open)))
        #expect(
            taken(&calls) == [
                .job(.start(try target("a", .closed))),
                .job(.start(try target("a", .updateRequired))),
                .job(.stop(try target("a", .countdown))),
                .job(.start(try target("a", .open))),
                .job(.start(try target("b", .updateRequired))),
            ])
    }

    /// systemd answers in turn: with four reads beside the jobs, 100 gates took a quarter longer to close.
    @Test func aJobWaitsForFewReadsAndReadsGoOnBesideJobs() throws {
        var calls = PendingCalls()
        for number in 0..<100 { calls.append("u\(number).service") }
        #expect(taken(&calls).count == 4)
        calls.append(.start(try target("a", .closed)))
        #expect(taken(&calls) == [.job(.start(try target("a", .closed)))])
        for _ in 0..<3 {
            calls.readAnswered()
            #expect(taken(&calls).isEmpty)
        }
        calls.readAnswered()
        #expect(taken(&calls) == [.read("u4.service")])
        calls.jobAnswered()
        #expect(taken(&calls).count == 3)
    }
}

/// Object paths of units, as `busctl tree` shows them.
struct ObjectPathTests {
    @Test(arguments: [
        ("web.service", "web_2eservice"),
        ("killswitch-open@shop.target", "killswitch_2dopen_40shop_2etarget"),
        ("3com.service", "_33com_2eservice"),
        ("a_b:c.socket", "a_5fb_3ac_2esocket"),
        ("-.mount", "_2d_2emount"),
    ])
    func aUnitHasOneObject(_ name: String, _ object: String) throws {
        let unit = try #require(UnitName(name))
        #expect(ObjectPath.of(unit) == "/org/freedesktop/systemd1/unit/\(object)")
        #expect(ObjectPath.unit(ObjectPath.of(unit)) == unit)
    }

    @Test(arguments: [
        "", "/", "/org/freedesktop/systemd1", "/org/freedesktop/systemd1/unit/",
        "/org/freedesktop/systemd1/unit/web_2", "/org/freedesktop/systemd1/unit/web_zz",
        "/org/freedesktop/systemd1/job/1", "/org/freedesktop/systemd1/unit/web_00_2eservice",
    ])
    func anotherObjectIsNoUnit(_ path: String) {
        #expect(ObjectPath.unit(path) == nil)
    }
}

/// Whether the clock is synchronised, where the kernel tells and where it does not.
@Suite(.timeLimit(.minutes(5))) struct ClockSynchronisationTests {
    private let loop: EventLoop

    init() throws { loop = try EventLoop() }

    @Test(arguments: [true, false]) func theKernelsWordCountsAtOnce(_ word: Bool) {
        let clock = ClockSynchronisation(loop, address: "unix:path=/nonexistent/bus") { word }
        #expect(clock.value == word)
        clock.clockWasSet()
        #expect(clock.value == word)
    }

    /// A poll wants to know it four times.
    @Test func theKernelIsAskedOnceForAPollAndAgainAfterTheClockWasSet() {
        var questions = 0
        let clock = ClockSynchronisation(loop, address: "unix:path=/nonexistent/bus") {
            questions += 1
            return questions < 3
        }
        #expect([clock.value, clock.value, clock.value, clock.value] == [true, true, true, true])
        #expect(questions == 2)
        clock.clockWasSet()
        #expect(clock.value == false)
    }

    @Test func withoutABusNobodySaysThatItIs() {
        let clock = ClockSynchronisation(loop, address: "unix:path=/nonexistent/bus") { nil }
        #expect(clock.value == false)
        clock.clockWasSet()
        #expect(clock.value == false)
    }
}
