import ControlSocket
import Decision
import JSON
import Support
import Testing

/// What the daemon keeps of drills, for services that ask for them and for others.
@Suite struct DrillMethodTests {
    private func drills(_ asked: TestDispatcher) throws -> [JSON.Object] {
        try asked.call("Drills")["drills"]?.array?.compactMap(\.object) ?? []
    }

    @Test func aServiceThatAsksForNoDrillsHasOneOnceItWasDrilled() throws {
        let asked = try TestDispatcher()
        try asked.decide()
        #expect(try drills(asked) == [])
        _ = try asked.call("NoteDrill", ["service": "shop", "stopped": ["a.service"]])
        let drill = try #require(try drills(asked).first)
        #expect(drill["every"] == .null && drill["stopped"] == .null)
        #expect(drill["at"] == drill["last_good"] && drill["at"]?.string != nil)
        // Nothing is kept that nobody asks for.
        #expect(asked.daemon.machine.lastDrill(of: "shop")?.result.stopped == nil)
    }

    @Test func aServiceThatAsksHasAnEntryBeforeItsFirstDrill() throws {
        let asked = try TestDispatcher()
        try asked.decide()
        asked.daemon.drillIntervals = ["shop": .seconds(86_400)]
        #expect(
            try drills(asked) == [
                [
                    "service": "shop", "at": .null, "problem": .null, "last_good": .null,
                    "every": 86400, "stopped": .null,
                ]
            ])
    }

    @Test func theUnitsOfAllDrillsCountAlsoOfThoseThatHaveFailed() throws {
        let asked = try TestDispatcher()
        try asked.decide()
        asked.daemon.drillIntervals = ["shop": .seconds(86_400)]
        for units: JSON.Value in [["a.service"], ["b.service", "no unit", "a.service"], .null] {
            _ = try asked.call(
                "NoteDrill", ["service": "shop", "problem": "x", "stopped": units])
        }
        let drill = try #require(try drills(asked).first)
        #expect(drill["stopped"] == ["b.service", "a.service"])
        #expect(drill["last_good"] == .null)
        #expect(throws: MethodError.invalidParameter("stopped")) {
            try asked.call("NoteDrill", ["service": "shop", "stopped": [1]])
        }
    }

    @Test func manyUnitsAreCut() throws {
        let asked = try TestDispatcher()
        try asked.decide()
        asked.daemon.drillIntervals = ["shop": .seconds(86_400)]
        for batch in 0..<3 {
            let units = (0..<400).map { "u\(batch)-\($0).service" }
            _ = try asked.call("NoteDrill", ["service": "shop", "stopped": .strings(units)])
        }
        let stopped = asked.daemon.machine.lastDrill(of: "shop")?.result.stopped
        #expect(stopped?.count == 500 && stopped?.first == "u2-0.service")
    }
}
