import CivilTime
import Decision
import JSON
import Support
import Testing

/// A reload replaces the object of a source: its fetch in flight, and the known flags.
@Suite struct ReplacementTests {
    private func reconfigured(
        _ service: Service, _ replacement: Replacement? = nil, interval: Duration = .seconds(60),
        defaults: JSON.Object = JSON.Object()
    ) throws -> Event {
        let plan = Plan(
            sources: [SourcePlan(name: "app", interval: interval, defaults: defaults)],
            services: [service])
        return .reconfigured(plan, replaced: replacement.map { ["app": $0] } ?? [:])
    }

    @Test func newSourcesAreFetchedAndRemovedServicesAreWithdrawn() throws {
        var play = try Transcript([try service()]).answered(ServiceEnd.no, at: 1)
        let web = try service("web", sources: ["other"])
        let effects = play.at(2, .reconfigured(Plan([web])))
        #expect(effects.contains(.withdraw("shop")))
        #expect(effects.contains(.stopSource("app")))
        #expect(effects.contains(.fetch("other", Validators())))
        #expect(play.machine.isProgressing(at: play.now))
    }

    /// A drop-in is removed and put back while its source is silent. The stored flags count as at a start;
    /// after a reboot flags that open wait.
    @Test func aSourceThatComesBackFindsWhatIsStoredOfIt() throws {
        let (shop, web) = (try service(), try service("web", sources: ["other"]))
        for (flags, state) in [(ServiceEnd.over, State.ended), (ServiceEnd.no, .running)] {
            for boot in ["this-boot", "another-boot"] {
                let memory = try Memory.stored(flags, state: state, boot: boot)
                var ledgerOnly = memory
                ledgerOnly.flags = [:]
                var reloaded = try Transcript([web], memory: ledgerOnly).started()
                reloaded.at(
                    0,
                    .reconfigured(
                        Plan([shop]), remembered: ["app": try #require(memory.flags["app"])]))
                var restarted = try Transcript([shop], memory: memory).started()
                #expect(reloaded.states == restarted.states)
                reloaded.at(30, .woke)
                restarted.at(30, .woke)
                #expect(reloaded.states == [state])
                #expect(restarted.states == [state])
            }
        }
    }

    /// A reload keeps the same flags as a restart, whatever was changed of the source.
    @Test(arguments: [nil, .sameAddress, .otherAddress] as [Replacement?])
    func aReloadAndARestartGiveTheSameVerdict(_ replacement: Replacement?) throws {
        let known = { (flags: String, state: State) in
            try Memory.stored(flags, state: state)
        }
        let formats: [Format] = [
            .serviceEnd, .serviceEnd(endKeys: ["other"], countdownKey: "at"), .status(.whole),
        ]
        let defaults: [JSON.Object] = [[:], ["other": "over"], ["service_end": "no"]]
        for flags in [ServiceEnd.no, ServiceEnd.over, #"{"other": "no"}"#] {
            for format in formats {
                for defaults in defaults {
                    let shop = try service(format: format)
                    let event = try reconfigured(shop, replacement, defaults: defaults)
                    var reloaded = try Transcript(
                        [try service()], memory: try known(flags, .ended)
                    ).started()
                    reloaded.at(31, .woke)
                    var memory = try known(flags, try #require(reloaded.states.first))
                    reloaded.at(100, event)

                    if replacement == .otherAddress { memory.flags["app"]?.answers[0].inherit() }
                    guard case .reconfigured(let plan, _, _) = event else { continue }
                    var restarted = try Transcript(plan: plan, memory: memory).started()
                    #expect(reloaded.states == restarted.states, "\(flags) \(format) \(defaults)")
                    reloaded.at(3600, .woke)
                    restarted.at(3600, .woke)
                    #expect(reloaded.states == restarted.states, "\(flags) \(format) \(defaults)")
                }
            }
        }
    }
}
