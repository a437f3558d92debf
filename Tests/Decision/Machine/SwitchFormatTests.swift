import CivilTime
import Decision
import Support
import Testing

/// The format `switch` over time: windows, versions, expiry.
@Suite struct SwitchFormatTests {
    private static let planned = #"""
        {"state":"running","windows":[{"from":"2027-03-03T10:00:00Z","until":"2027-03-03T11:00:00Z","title":"Works"}]}
        """#

    private func shop(policy: Policy = Policy()) throws -> Service {
        try service(format: .switchObject(.whole), policy: policy)
    }

    @Test func aWindowIsAnnouncedAndBeginsAndEndsWithoutTheNetwork() throws {
        var play = try Transcript([try shop()]).waiting().receiving(Self.planned, at: 0)
        play.at(43_200, .woke)
        play.at(165_599, .woke)
        play.at(165_600, .woke)
        play.at(169_199, .woke)
        play.at(169_200, .woke)
        play.expectWithoutFetches(
            #"""
            0s app answers {"state":"running","windows":[{"from":"2027-03-03T10:00:00Z","until":"2027-03-03T11:00:00Z","title":"Works"}]} (stored, confirmed)
                remember and publish shop running open window-ahead days=2 title=Works #2 until 2027-03-02T00:01:00+00:00
                log notice: shop: running (was undecided): source 'app' plans maintenance from 2027-03-03T10:00:00+00:00 until 2027-03-03T11:00:00+00:00
            43200s woke
                publish shop running open window-ahead days=1 title=Works #2 until 2027-03-03T00:01:00+00:00
            165599s woke
                publish shop running open window-ahead days=0 title=Works #2 until 2027-03-03T10:01:00+00:00
            165600s woke
                remember and publish shop maintenance closed window title=Works #3 until 2027-03-03T11:01:00+00:00
                log notice: shop: maintenance (was running): maintenance planned by source 'app' lasts until 2027-03-03T11:00:00+00:00
            169199s woke
            169200s woke
                remember and publish shop running open flags #4 until 2027-03-04T00:01:00+00:00
                log notice: shop: running (was maintenance): set by the flags of source 'app'
            """#)
    }

    @Test func aWindowIsKeptOverARestart() throws {
        let memory = try Memory.stored(
            Self.planned, fetchedAt: "2027-03-01T10:00:00Z", state: .running, boot: "another-boot")
        var play = try Transcript([try shop()], memory: memory, start: "2027-03-03T10:30:00Z")
        #expect(play.states(at: 0, .started) == [.maintenance])
    }

    @Test func anEndEndsAMaintenanceToo() throws {
        var play = try Transcript([try shop()])
            .answered(#"{"state":"maintenance","ends_at":"2027-03-01T12:00:10Z"}"#)
        #expect(play.states == [.maintenance])
        #expect(play.states(at: 10) == [.ended])
    }

    @Test func anEarlierVersionIsNoOrderAndNeitherIsOneWithoutANumber() throws {
        var play = try Transcript([try shop()]).answered(#"{"state":"running","version":7}"#)
        try play.at(1, "app", answers: #"{"state":"ended","version":6}"#)
        try play.at(2, "app", answers: #"{"state":"ended"}"#)
        try play.at(3, "app", answers: #"{"state":"ended","version":7}"#)
        play.expect(
            #"""
            1s app answers {"state":"ended","version":6}
                publish shop running open invalid-answer #2 until 2027-03-02T00:01:00+00:00
                log warning: shop: running: the last answer of source 'app' is invalid: key 'version' is 6, not 7 or more, as it was before; the last good flags stay in force
            2s app answers {"state":"ended"}
                publish shop running open invalid-answer #2 until 2027-03-02T00:01:00+00:00
                log warning: shop: the last answer of source 'app' is invalid: key 'version' is missing; the last good flags stay in force
            3s app answers {"state":"ended","version":7} (stored, confirmed)
                remember and publish shop ended closed flags #3 until 2027-03-02T00:01:00+00:00
                log notice: shop: ended (was running): set by the flags of source 'app'
            """#)
    }

    /// Staged flags were once replaced by an earlier version.
    @Test func stagedFlagsNeverGiveWayToAnEarlierVersion() throws {
        var shop = try shop()
        shop.activation = .nextStart
        var play = try Transcript([shop]).answered(#"{"state":"running","version":6}"#)
        try play.at(1, "app", answers: #"{"state":"maintenance","version":8}"#)
        try play.at(2, "app", answers: #"{"state":"running","version":7}"#)
        #expect(play.text.contains("key 'version' is 7, not 8 or more, as it was before"))
        #expect(play.states(at: 3, .activate(nil)) == [.maintenance])
    }

    @Test func theHighestVersionIsKnownAfterARestart() throws {
        let memory = try Memory.stored(
            #"{"state":"running","version":7}"#, fetchedAt: "2027-03-01T10:00:00Z", state: .running)
        var play = try Transcript([try shop()], memory: memory).started()
        try play.at(1, "app", answers: #"{"state":"ended","version":6}"#)
        #expect(play.states == [.running])
    }

    @Test(arguments: [
        (WhenStale.hold, State.running, "expired-hold"), (.open, .running, "expired-open"),
        (.closed, .maintenance, "expired-closed"),
    ])
    func flagsThatHaveExpiredAreStale(_ row: (WhenStale, State, String)) throws {
        var play = try Transcript([try shop(policy: Policy(whenStale: row.0))])
            .answered(#"{"state":"running","expires":"2027-03-01T12:00:10Z"}"#)
        let wake = play.at(9, .woke)
        #expect(wake.allSatisfy { if case .publish = $0 { false } else { true } })
        let effects = play.at(10, .woke)
        let published = effects.compactMap {
            if case .publish(_, let record) = $0 { record } else { nil }
        }
        #expect(published.map(\.verdict.state) == [row.1])
        #expect(published.map(\.verdict.reason.slug.rawValue) == [row.2])
        #expect(published.map(\.verdict.isStale) == [true])
    }

    @Test func anOldVersionIsUpdatedByItsFile() throws {
        var shop = try shop()
        shop.installed = .file("/opt/shop/VERSION")
        var play = try Transcript([shop])
        let version = try #require(Version("1.9.0"))
        play.at(0, .started)
        play.forget()
        try play.at(1, "app", answers: #"{"state":"running","minimum_version":"1.10.0"}"#)
        play.at(2, .versionInstalled(shop.name, version))
        play.at(20, .versionInstalled(shop.name, try #require(Version("1.10.0"))))
        play.expect(
            #"""
            1s app answers {"state":"running","minimum_version":"1.10.0"} (stored, confirmed)
                remember and publish shop running open flags #2 until 2027-03-02T00:01:00+00:00
                log warning: shop: source 'app' requires version '1.10.0', but the installed version is unknown; the requirement is ignored
                log notice: shop: running (was undecided): set by the flags of source 'app'
            2s shop has 1.9.0
                remember and publish shop update-required closed version-too-old #3 until 2027-03-02T00:01:00+00:00
                log warning: shop: update-required (was running): source 'app' requires version '1.10.0', and '1.9.0' is installed
            20s shop has 1.10.0
                remember and publish shop running open flags #4 until 2027-03-02T00:01:00+00:00
                log notice: shop: running (was update-required): set by the flags of source 'app'
            """#)
    }

    @Test func aFailedSourceDoesNotHideTheOthers() throws {
        var shop = try shop()
        shop.switches.append(Switch(source: "plan", format: .switchObject(.whole)))
        var play = try Transcript([shop]).answered(#"{"state":"running"}"#, at: 1)
        try play.at(1, "plan", answers: Self.planned)
        play.at(60, .fetchEnded("plan", .failure(Failure(.unreachable, "down"))))
        try play.at(61, "app", answers: #"{"state":"maintenance"}"#)
        #expect(play.states == [.maintenance])
        try play.at(70, "app", answers: #"{"state":"running"}"#)
        #expect(play.states(at: 165_600) == [.maintenance])
    }
}
