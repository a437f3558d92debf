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
        let advance = try #require(try asked.perform("Refresh", ["source": "app"]).advance)
        var answer: JSON.Object?
        func post(_ trigger: ReplyTrigger) throws {
            if case .last(let object) = try advance(trigger) { answer = answer ?? object }
        }
        try asked.daemon.settle(post)
        try asked.daemon.answer(inactive: false)
        try asked.daemon.settle(post)
        #expect(answer == nil)
        try asked.daemon.answer(inactive: true)
        try asked.daemon.settle(post)
        let fetched = try #require(answer?["fetched"]?.array?.first?.object)
        #expect(fetched["outcome"]?.string == "changed")
        #expect(answer?.states == ["maintenance"])
    }

    @Test func aRefreshTellsHowTheFetchFailed() throws {
        try asked.decide()
        let advance = try #require(try asked.perform("Refresh").advance)
        try asked.daemon.settle { _ = try advance($0) }
        asked.daemon.post(.fetchEnded(app, .failure(Decision.Failure(.unreachable, "no route"))))
        var answer: JSON.Object?
        try asked.daemon.settle { trigger in
            if case .last(let object) = try advance(trigger) { answer = object }
        }
        let fetched = try #require(answer?["fetched"]?.array?.first?.object)
        #expect(fetched["outcome"]?.string == "failed")
        #expect(fetched["problem"]?.string == "no route; the last good flags stay in force")
    }

    @Test func forgetDropsStoredFlagsAndMovesNoGate() throws {
        try asked.decide()
        #expect(try asked.call("Forget", ["source": "app"])["services"] == ["shop"])
        #expect(asked.daemon.effects.contains(.storeFlags(app, [])))
        #expect(
            asked.daemon.effects.last { if case .fetch = $0 { true } else { false } }
                == .fetch(app, Validators()))
        #expect(try asked.call("Status").states == ["running"])
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
