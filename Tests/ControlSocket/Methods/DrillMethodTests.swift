import ControlSocket
import Decision
import JSON
import Support
import Testing

/// What the daemon keeps of drills, for services that ask for them and for others.
@Suite struct DrillMethodTests {
    @Test func nothingIsKeptThatNobodyAsksFor() throws {
        let asked = try TestDispatcher()
        try asked.decide()
        let answer = try asked.call("NoteDrill", ["service": "shop", "stopped": ["a.service"]])
        let drill = try #require(answer["drill"]?.object)
        #expect(drill["every"] == .null && drill["stopped"] == .null)
        #expect(drill["at"] == drill["last_good"] && drill["at"]?.string != nil)
        #expect(asked.daemon.machine.lastDrill(of: "shop")?.result.stopped == nil)
    }

    @Test func theUnitsOfAllDrillsCountAlsoOfThoseThatHaveFailed() throws {
        let asked = try TestDispatcher()
        try asked.decide()
        asked.daemon.drillIntervals = ["shop": .seconds(86_400)]
        var answer: JSON.Object = [:]
        for units: JSON.Value in [["a.service"], ["b.service", "no unit", "a.service"], .null] {
            answer = try asked.call(
                "NoteDrill", ["service": "shop", "problem": "x", "stopped": units])
        }
        let drill = try #require(answer["drill"]?.object)
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
