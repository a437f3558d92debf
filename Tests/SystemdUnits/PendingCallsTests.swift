import Decision
import Gates
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
            calls.append(.start(try target(service, .ended)))
        }
        #expect(
            taken(&calls) == [
                .job(.start(try target("a", .closed))), .job(.start(try target("b", .closed))),
                .job(.start(try target("a", .ended))), .job(.start(try target("b", .ended))),
            ])
    }

    /// The target of a state stops the open target: a start that was overtaken would close the gate again.
    @Test func theJobsOfOneServiceKeepTheirOrder() throws {
        var calls = PendingCalls()
        calls.append(.start(try target("a", .closed)))
        calls.append(.start(try target("a", .ended)))
        calls.append(.start(try target("b", .ended)))
        calls.append(.stop(try target("a", .updateRequired)))
        calls.append(.start(try target("a", .open)))
        #expect(
            taken(&calls) == [
                .job(.start(try target("a", .closed))), .job(.start(try target("a", .ended))),
                .job(.stop(try target("a", .updateRequired))),
                .job(.start(try target("a", .open))), .job(.start(try target("b", .ended))),
            ])
    }

    @Test func aJobWaitsForNoMoreThanAFewReads() throws {
        var calls = PendingCalls()
        for number in 0..<100 { calls.append(try #require(UnitName("u\(number).service"))) }
        #expect(taken(&calls).count == 4)
        calls.append(.start(try target("a", .closed)))
        #expect(taken(&calls) == [.job(.start(try target("a", .closed)))])
        calls.readAnswered()
        #expect(taken(&calls) == [.read(try #require(UnitName("u4.service")))])
    }
}
