import ControlSocket
import JSON
import Testing

/// Who may call which method.
@Suite struct AccessTests {
    private let asked: TestDispatcher

    init() throws { asked = try TestDispatcher() }

    @Test(arguments: [
        "Force", "Release", "Refresh", "Activate", "Reload", "Forget", "Confirm",
    ]) func aMethodThatActsIsRefusedToOtherUsers(_ method: String) throws {
        #expect(throws: MethodError.notPermitted(method)) {
            try asked.perform(method, by: TestDispatcher.anybody)
        }
    }

    @Test func readingIsForEverybody() throws {
        try asked.decide()
        let answer = try #require(try asked.perform("Status", by: TestDispatcher.anybody).answer)
        #expect(answer.states == ["running"])
    }

    @Test func theSourcesAreForEverybodyToo() throws {
        let answer = try #require(try asked.perform("Sources", by: TestDispatcher.anybody).answer)
        #expect(answer["sources"]?.array?.map { $0.object?["name"]?.string } == ["app"])
    }

    @Test func everyMethodIsListedAsReadingOrActing() {
        #expect(
            Interface.methods.map { "\($0.name) \($0.access)" } == [
                "Status reading", "Watch reading", "Sources reading", "Problems reading",
                "Force acting", "Release acting",
                "Refresh acting", "Activate acting", "Reload acting", "Forget acting",
                "Confirm acting", "Explain acting", "Drills reading", "NoteDrill acting",
            ])
    }
}
