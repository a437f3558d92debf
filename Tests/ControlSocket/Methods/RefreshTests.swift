import ControlSocket
import Decision
import JSON
import Support
import Testing

/// Refresh, Forget and Reload: the daemon fetches its sources or reads its configuration again.
@Suite struct RefreshTests {
    private let asked: TestDispatcher
    private let app: SourceName = "app"

    init() throws { asked = try TestDispatcher() }

    @Test func aRefreshWaitsForAFetchThatBeganAfterIt() throws {
        // The first fetch is in flight: its answer may be older than the call.
        let response = try asked.perform("Refresh", ["source": "app"])
        asked.daemon.settle()
        #expect(try response.answer == nil)
        try asked.decide()
        #expect(try response.answer == nil)
        try asked.decide(inactive: true)
        let answer = try #require(try response.answer)
        let fetched = try #require(answer["fetched"]?.array?.first?.object)
        #expect(fetched["outcome"]?.string == "changed")
        #expect(answer.states == ["maintenance"])
    }

    @Test func aRefreshTellsHowTheFetchFailed() throws {
        try asked.decide()
        let response = try asked.perform("Refresh")
        asked.daemon.settle()
        #expect(try response.answer == nil)
        asked.daemon.post(.fetchEnded(app, .failure(Decision.Failure(.unreachable, "no route"))))
        asked.daemon.settle()
        let fetched = try #require(try response.answer?["fetched"]?.array?.first?.object)
        #expect(fetched["outcome"]?.string == "failed")
        #expect(fetched["problem"]?.string == "no route; the last good flags stay in force")
    }

    /// A fetch that ends with Retry-After is the answer: the source asks for no other.
    @Test func aRefreshEndsWhereTheSourceAsksForAPause() throws {
        let response = try asked.perform("Refresh")
        asked.daemon.settle()
        var failure = Decision.Failure(.refused, "503")
        failure.retryAfter = .seconds(600)
        asked.daemon.post(.fetchEnded(app, .failure(failure)))
        asked.daemon.settle()
        try asked.decide()
        #expect(try response.answer != nil)
    }

    @Test func forgetDropsStoredFlagsAndMovesNoGate() throws {
        try asked.decide()
        #expect(try asked.call("Forget", ["source": "app"])["services"] == ["shop"])
        #expect(asked.daemon.effects.contains(.storeFlags(app, [])))
        #expect(
            asked.daemon.effects.last { if case .fetch = $0 { true } else { false } }
                == .fetch(app, Validators()))
        #expect(asked.state == "running")
    }

    @Test func aReloadIsAnsweredWithTheNewServicesAndSources() throws {
        asked.daemon.warnings = ["a.txt: not read, its suffix is not .toml"]
        #expect(
            try asked.call("Reload") == [
                "services": ["shop"], "sources": ["app"],
                "warnings": ["a.txt: not read, its suffix is not .toml"],
                "problems": [], "attached": [], "detached": [], "unattached": [],
            ])
        asked.daemon.next = .failure(.configurationRefused("x.toml:1: no"))
        #expect(throws: MethodError.configurationRefused("x.toml:1: no")) {
            try asked.perform("Reload")
        }
    }
}

/// Activate puts staged flags in force; Confirm lets held closings happen.
@Suite struct ActivateTests {
    @Test func activateSaysWhichServicesHadFlagsWaiting() throws {
        let asked = try TestDispatcher(activation: .nextStart)
        try asked.decide()
        #expect(try asked.call("Activate")["activated"] == [])
        try asked.decide(inactive: true)
        #expect(asked.state == "running")
        let activated = try asked.call("Activate", ["service": "shop"])
        #expect(activated["activated"] == ["shop"])
        #expect(activated.states == ["maintenance"])
    }

    @Test func confirmClosesHeldServicesAndNamesThem() throws {
        let asked = try TestDispatcher(closeAtOnce: 0)
        try asked.decide()
        #expect(try asked.call("Confirm")["confirmed"] == [])
        try asked.decide(inactive: true)
        #expect(asked.state == "running")
        let confirmed = try asked.call("Confirm", ["services": ["shop"]])
        #expect(confirmed["confirmed"] == ["shop"])
        #expect(confirmed.states == ["maintenance"])
        let known = asked.daemon.services.map(\.name)
        #expect(throws: MethodError.noSuchService("shpo", known: known)) {
            try asked.perform("Confirm", ["services": ["shpo"]])
        }
    }
}
