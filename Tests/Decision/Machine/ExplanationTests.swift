import CivilTime
import Decision
import JSON
import Support
import Testing

@Suite struct ExplanationTests {
    private func explanation(_ play: Transcript) throws -> Explanation {
        try #require(play.machine.explanation(of: "shop", at: play.now))
    }

    @Test func eachSwitchIsShownWithTheFlagsItReadAndOneDecides() throws {
        var shop = try service(sources: ["app", "plan"])
        shop.switches[1].format = .switchObject(.member("web"))
        var play = try Transcript([shop])
            .answered(#"{"service_end": "no", "colour": "red"}"#, at: 1)
        try play.at(5, "plan", answers: #"{"web": {"state": "maintenance"}, "n": 1}"#)
        play.at(20, .woke)
        let explanation = try explanation(play)
        #expect(explanation.verdict.state == .maintenance)
        #expect(explanation.switches.map(\.isDecisive) == [false, true])
        #expect(explanation.switches.map(\.age) == [.seconds(19), .seconds(15)])
        #expect(explanation.switches.map(\.opinion?.state) == [.running, .maintenance])
        #expect(
            explanation.switches.map { $0.flags.map { JSON.Value.object($0).serialized(.compact) } }
                == [#"{"service_end":"no"}"#, #"{"web":{"state":"maintenance"}}"#])
    }

    @Test func aSwitchWithoutFlagsHasNeitherAgeNorOpinionWhileItIsWaitedFor() throws {
        var play = try Transcript([try service()]).started()
        let waiting = try explanation(play).switches
        #expect(waiting.map(\.age) == [nil] && waiting.map(\.opinion) == [nil])
        play.at(30, .woke)
        #expect(try explanation(play).switches.map(\.opinion?.reason.slug) == [.unknownOpen])
    }

    @Test func anAnswerThatDoesNotCountIsNamedBesideTheFlagsInForce() throws {
        var play = try Transcript([try service()]).answered(#"{"service_end": "no"}"#, at: 1)
        try play.at(2, "app", answers: #"{"service_end": 7}"#)
        let view = try #require(try explanation(play).switches.first)
        #expect(view.flags?["service_end"] == "no")
        #expect(view.problem?.description == "key 'service_end' is a number, not a string")
        #expect(view.isDecisive)
    }

    @Test func flagsThatWaitForTheNextStartAreTold() throws {
        var shop = try service()
        shop.activation = .nextStart
        var play = try Transcript([shop]).answered(#"{"service_end": "no"}"#, at: 1)
        #expect(try explanation(play).switches.map(\.isStaged) == [false])
        try play.at(2, "app", answers: #"{"service_end": "over"}"#)
        let view = try #require(try explanation(play).switches.first)
        #expect(view.isStaged && view.flags?["service_end"] == "no")
    }

    @Test func underAnOverrideNoSwitchDecides() throws {
        var play = try Transcript([try service()])
        play.at(0, .started)
        try play.at(1, "app", answers: #"{"service_end": "no"}"#)
        let override = try Override.order(.ended)
        play.at(2, .force("shop", override))
        let explanation = try explanation(play)
        #expect(explanation.override == override)
        #expect(explanation.switches.map(\.isDecisive) == [false])
        #expect(explanation.switches.map(\.opinion?.state) == [.running])
    }

    @Test func aServiceThatIsNotConfiguredHasNone() throws {
        let play = try Transcript([try service()])
        #expect(play.machine.explanation(of: "web", at: play.now) == nil)
    }

    @Test(arguments: [
        (Format.serviceEnd, ["is_service_end"]),
        (.status(.whole), ["apiInactive"]),
        (.status(.member("app")), ["app"]),
        (.maintenance(.memberOrWhole("app")), ["app"]),
        (.maintenance(.memberOrWhole("web")), ["isUnderMaintenance"]),
        (.switchObject(.whole), ["state", "windows"]),
        (.switchObject(.member("web")), []),
    ])
    func aFormatLooksAtItsOwnFlagsAlone(_ format: Format, _ keys: [String]) {
        let flags: JSON.Object = [
            "is_service_end": "no", "apiInactive": true, "app": "{}", "isUnderMaintenance": false,
            "state": "running", "windows": [], "other": 1,
        ]
        #expect(format.relevant(in: flags).map(\.key) == keys)
    }
}
