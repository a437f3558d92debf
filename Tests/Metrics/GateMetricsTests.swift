import CivilTime
import Decision
import Gates
import Metrics
import Support
import Testing

@Suite struct GateMetricsTests {
    private var gates = ObservedGates()

    private func samples(_ metric: Metric) throws -> [String] {
        var host = try ObservedHost()
        host.move(gates.machine)
        return host.samples(metric)
    }

    @Test mutating func aGateIsOpenInFactUntilItsLastUnitIsDown() throws {
        try gates.open("app.service", "web.service")
        #expect(try samples(.gateOpen) == [#"{service="shop"} 1"#])
        #expect(try samples(.unitsUnwanted) == [#"{service="shop"} 0"#])
        try gates.close()
        gates.at(2, .unitChanged("app.service", UnitStatus(.inactive)))
        #expect(try samples(.gateOpen) == [#"{service="shop"} 1"#])
        #expect(try samples(.unitsUnwanted) == [#"{service="shop"} 1"#])
        #expect(try samples(.unitUnwanted) == [#"{service="shop",unit="web.service"} 1"#])
        gates.at(3, .unitChanged("web.service", UnitStatus(.inactive)))
        try gates.confirmClosed(at: 3.5, "app.service", "web.service")
        #expect(try samples(.gateOpen) == [#"{service="shop"} 0"#])
        #expect(try samples(.unitUnwanted) == [])
        #expect(try samples(.lastStop) == [#"{service="shop"} 2.5"#])
        #expect(try samples(.lastStart) == [])
    }

    @Test mutating func aUnitThatIgnoresItsStopStaysNamed() throws {
        try gates.open("app.service")
        try gates.close()
        for second in 2...60 { gates.at(Double(second), .woke) }
        #expect(try samples(.gateOpen) == [#"{service="shop"} 1"#])
        #expect(try samples(.unitUnwanted) == [#"{service="shop",unit="app.service"} 1"#])
        #expect(try samples(.problems).contains(#"{kind="unit-late"} 1"#))
    }

    /// Monitoring must not call that disobedience: the alert about gates waits for this time.
    @Test mutating func aDrainHasItsEndWhileItIsUnderWay() throws {
        try gates.open("app.service")
        #expect(try samples(.drainEnd) == [])
        let closed = DesiredGate(gate: .closed, state: .maintenance)
        let end = Boottime(microseconds: 1_020_500_000)
        gates.at(1, .decided("shop", closed, drainsUntil: end))
        // The test host's clock: 1,000 s after its boot it is noon.
        let noon = try Instant(rfc3339: "2027-03-01T12:00:00Z").seconds
        #expect(try samples(.drainEnd) == [#"{service="shop"} \#(noon + 20)"#])
        #expect(try samples(.gateOpen) == [#"{service="shop"} 1"#])
        gates.at(20.5, .woke)
        #expect(try samples(.drainEnd) == [])
        #expect(try samples(.unitUnwanted) == [#"{service="shop",unit="app.service"} 1"#])
    }

    @Test mutating func aGateThatOpensAgainDrainsNoMore() throws {
        try gates.open("app.service")
        let end = Boottime(microseconds: 1_020_000_000)
        gates.at(1, .decided("shop", DesiredGate(gate: .closed, state: .ended), drainsUntil: end))
        #expect(try samples(.drainEnd).count == 1)
        gates.at(2, .decided("shop", DesiredGate(gate: .open, state: .running)))
        #expect(try samples(.drainEnd) == [])
        #expect(try samples(.gateOpen) == [#"{service="shop"} 1"#])
    }

    /// systemd writes a dash in a path so.
    @Test mutating func aBackslashInTheNameOfAUnitIsEscaped() throws {
        try gates.open(#"srv-my\x2ddata.mount"#)
        gates.at(2, .unitChanged(#"srv-my\x2ddata.mount"#, UnitStatus(.inactive)))
        #expect(try samples(.unitUnwanted) == [#"{service="shop",unit="srv-my\\x2ddata.mount"} 1"#])
    }

    /// Nothing is known then, so that nothing is told.
    @Test func withoutGatesThereAreNoneOfTheirMetrics() throws {
        let host = try ObservedHost()
        for metric in [Metric.gateOpen, .unitsUnwanted, .unitUnwanted, .lastStop, .drainEnd] {
            #expect(host.samples(metric) == [])
        }
    }
}

@Suite struct WritingPaceTests {
    private func moment(_ seconds: Double) -> Boottime {
        Boottime(microseconds: Int64(seconds * 1_000_000))
    }

    private func request(_ pace: inout WritingPace, at seconds: Double) -> Bool {
        pace.request(at: moment(seconds))
    }

    @Test func theFirstChangeIsWrittenSoon() {
        var pace = WritingPace()
        #expect(pace.dueAt == nil)
        #expect(request(&pace, at: 10))
        #expect(pace.dueAt == moment(10.2))
    }

    @Test func aBurstIsOneWrite() {
        var pace = WritingPace()
        #expect(request(&pace, at: 10))
        #expect(!request(&pace, at: 10.1))
        #expect(pace.dueAt == moment(10.2))
        pace.written(at: moment(10.2))
        #expect(pace.dueAt == nil)
    }

    @Test func twoWritesAreFiveSecondsApart() {
        var pace = WritingPace()
        pace.written(at: moment(10))
        #expect(request(&pace, at: 11))
        #expect(pace.dueAt == moment(15))
        pace.written(at: moment(15))
        #expect(request(&pace, at: 45))
        #expect(pace.dueAt == moment(45.2))
    }
}
