import ControlSocket
import Decision
import JSON
import Testing

/// Activate puts staged flags in force; Confirm lets held closings happen.
@Suite struct ActivateTests {
    @Test func activateSaysWhichServicesHadFlagsWaiting() throws {
        let asked = try TestDispatcher(activation: .nextStart)
        try asked.decide()
        #expect(try asked.call("Activate")["activated"] == [])
        try asked.decide(inactive: true)
        #expect(try asked.call("Status").states == ["running"])
        let activated = try asked.call("Activate", ["service": "shop"])
        #expect(activated["activated"] == ["shop"])
        #expect(activated.states == ["maintenance"])
    }

    @Test func confirmClosesHeldServicesAndNamesThem() throws {
        let asked = try TestDispatcher(closeAtOnce: 0)
        try asked.decide()
        #expect(try asked.call("Confirm")["confirmed"] == [])
        try asked.decide(inactive: true)
        #expect(try asked.call("Status").states == ["running"])
        let confirmed = try asked.call("Confirm", ["services": ["shop"]])
        #expect(confirmed["confirmed"] == ["shop"])
        #expect(confirmed.states == ["maintenance"])
        let known = asked.daemon.services.map(\.name)
        #expect(throws: MethodError.noSuchService("shpo", known: known)) {
            try asked.perform("Confirm", ["services": ["shpo"]])
        }
    }
}
