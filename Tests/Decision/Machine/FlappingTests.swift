import CivilTime
import Decision
import Support
import Testing

@Suite struct FlappingTests {
    @Test func aGateThatClosedReopensNoSoonerThanMinClosed() throws {
        var play = try Transcript([try service()]).answered(#"{"service_end": "over"}"#)
        try play.at(1, "app", answers: #"{"service_end": "no"}"#)
        try play.at(2, "app", answers: #"{"service_end": "over"}"#)
        try play.at(3, "app", answers: #"{"service_end": "no"}"#)
        play.at(5, .woke)
        try play.at(6, "app", answers: #"{"service_end": "over"}"#)
        play.expect(
            #"""
            1s app answers {"service_end": "no"} (stored, confirmed)
                publish shop ended closed min-closed #2 until 2027-03-02T00:01:00+00:00
                log notice: shop: ended: source 'app' opens the gate again at 2027-03-01T12:00:05+00:00 (min_closed 5 s)
            2s app answers {"service_end": "over"} (stored, confirmed)
                publish shop ended closed flags #2 until 2027-03-02T00:01:00+00:00
                log notice: shop: ended: set by the flags of source 'app'
            3s app answers {"service_end": "no"} (stored, confirmed)
                publish shop ended closed min-closed #2 until 2027-03-02T00:01:00+00:00
                log notice: shop: ended: source 'app' opens the gate again at 2027-03-01T12:00:05+00:00 (min_closed 5 s)
            5s woke
                remember and publish shop running open flags #3 until 2027-03-02T00:01:00+00:00
                log notice: shop: running (was ended): set by the flags of source 'app'
            6s app answers {"service_end": "over"} (stored, confirmed)
                remember and publish shop ended closed flags #4 until 2027-03-02T00:01:00+00:00
                log notice: shop: ended (was running): set by the flags of source 'app'
            """#)
    }

    @Test(arguments: [(State.ended, true), (.maintenance, false)])
    func minClosedCountsOverARestart(_ state: State, hasFlags: Bool) throws {
        var memory = try Memory.stored(
            #"{"service_end": "over"}"#, fetchedAt: "2027-03-01T11:59:58Z", state: state)
        if !hasFlags { memory.flags = [:] }
        var play = try Transcript([try service()], memory: memory)
            .answered(#"{"service_end": "no"}"#, at: 1)
        play.at(3, .woke)
        play.expect(
            """
            3s woke
                remember and publish shop running open flags #8 until 2027-03-02T00:01:00+00:00
                log notice: shop: running (was \(state.rawValue)): set by the flags of source 'app'
            """)
    }

    @Test func theMostRestrictiveSwitchWins() throws {
        var shop = try service(format: .status(.whole))
        shop.switches.append(Switch(source: "plan", format: .maintenance(.memberOrWhole("m"))))
        var play = try Transcript([shop]).answered(#"{"apiInactive": false, "forceUpdate": true}"#)
        try play.at(1, "plan", answers: #"{"isUnderMaintenance": true, "title": "T"}"#)
        try play.at(60, "app", answers: #"{"apiInactive": false, "forceUpdate": false}"#)
        play.expect(
            #"""
            1s plan answers {"isUnderMaintenance": true, "title": "T"} (stored, confirmed)
            60s app answers {"apiInactive": false, "forceUpdate": false} (stored, confirmed)
                remember and publish shop maintenance closed flags title=T #3 until 2027-03-02T00:01:00+00:00
                log notice: shop: maintenance (was update-required): set by the flags of source 'plan'
                fetch plan
            """#)
    }

    @Test func anUpdateThatOnlyWarnsHidesNoMaintenance() throws {
        let policy = Policy(updateRequired: .open)
        var play = try Transcript([try service(format: .status(.whole), policy: policy)])
            .answered(#"{"apiInactive": false, "forceUpdate": true}"#)
        try play.at(60, "app", answers: #"{"apiInactive": true, "forceUpdate": true}"#)
        play.expect(
            #"""
            60s app answers {"apiInactive": true, "forceUpdate": true} (stored, confirmed)
                remember and publish shop maintenance closed flags #3 until 2027-03-02T00:01:00+00:00
                log notice: shop: maintenance (was update-required): set by the flags of source 'app'
            """#)
    }

    @Test func aClosedServiceIsPolledAtItsOwnPace() throws {
        var play = try Transcript([try service(format: .status(.whole))], showsSleep: true)
            .answered(#"{"apiInactive": true, "forceUpdate": false, "retryInterval": 15}"#)
        try play.at(
            15, "app",
            answers: #"{"apiInactive": false, "forceUpdate": false, "retryInterval": 15}"#)
        play.expect(
            #"""
            15s app answers {"apiInactive": false, "forceUpdate": false, "retryInterval": 15} (stored, confirmed)
                remember and publish shop running open flags #3 until 2027-03-02T00:01:00+00:00
                log notice: shop: running (was maintenance): set by the flags of source 'app'
                sleep 65s wall 2027-03-02T00:00:00+00:00
            """#)
    }

    @Test func aHintFetchesAtOnceAndAgainWhenItComesDuringAFetch() throws {
        var play = try Transcript([try service()]).waiting()
        play.at(0.1, .hinted("app"))
        try play.at(0.2, "app", answers: #"{"service_end": "no"}"#)
        play.at(0.3, .fetchEnded("app", .unchanged))
        play.at(10, .hinted("app"))
        play.expect(
            #"""
            0.1s app hinted
            0.2s app answers {"service_end": "no"} (stored, confirmed)
                remember and publish shop running open flags #2 until 2027-03-02T00:01:00+00:00
                log notice: shop: running (was undecided): set by the flags of source 'app'
                fetch app
            0.3s app unchanged (confirmed)
            10s app hinted
                fetch app
            """#)
    }

    /// The stream machine delays hints too, but a hint may have come before the answer.
    @Test func aHintDuringAFetchDoesNotOutweighRetryAfter() throws {
        var play = try Transcript([try service()]).started()
        play.at(0.1, .hinted("app"))
        let busy = Failure(.unreachable, "busy", retryAfter: .seconds(20))
        play.forget()
        play.at(0.2, .fetchEnded("app", .failure(busy)))
        play.at(20, .woke)
        #expect(!play.text.contains("fetch app"))
        play.at(22.3, .woke)
        #expect(play.text.hasSuffix("22.3s woke\n    fetch app\n"))
    }
}

/// Confirmation by several answers, and flags that are staged for the next start.
@Suite struct ConfirmationTests {
    @Test func closingWaitsForTheSecondAnswerAndOpeningForTheThird() throws {
        let policy = Policy(minClosed: .zero, confirmClose: 2, confirmOpen: 3)
        var play = try Transcript([try service(policy: policy)]).answered(ServiceEnd.no, at: 1)
        try play.at(2, "app", answers: ServiceEnd.over)
        try play.at(3, "app", answers: ServiceEnd.no)
        try play.at(4, "app", answers: ServiceEnd.over)
        play.at(5, .fetchEnded("app", .failure(Failure(.unreachable, "down"))))
        try play.at(6, "app", answers: #"{"service_end": "gone"}"#)
        play.expectWithoutFetches(
            #"""
            2s app answers {"service_end": "over"}
                publish shop running open unconfirmed #2 until 2027-03-02T00:01:00+00:00
                log notice: shop: running: source 'app' asks to close the gate; confirmed by 1 of 2 answers
            3s app answers {"service_end": "no"} (confirmed)
                publish shop running open flags #2 until 2027-03-02T00:01:00+00:00
                log notice: shop: running: set by the flags of source 'app'
            4s app answers {"service_end": "over"}
                publish shop running open unconfirmed #2 until 2027-03-02T00:01:00+00:00
                log notice: shop: running: source 'app' asks to close the gate; confirmed by 1 of 2 answers
            5s app fails: down
                log warning: source 'app': down; the last good flags stay in force, retrying in 46 s
            6s app answers {"service_end": "gone"} (stored, confirmed)
                remember and publish shop ended closed flags #3 until 2027-03-02T00:01:00+00:00
                log info: source 'app' answers again
                log notice: shop: ended (was running): set by the flags of source 'app'
            """#)
        for second in 7...8 { try play.at(Double(second), "app", answers: ServiceEnd.no) }
        #expect(play.states == [.ended])
        #expect(try play.states(at: 9, "app", answers: ServiceEnd.no) == [.running])
    }

    /// Another service took the answer, so that the next fetch of the source ends as unchanged.
    @Test func anAnswerThatIsUnchangedAgrees() throws {
        let slow = try service("slow", policy: Policy(confirmClose: 2))
        var play = try Transcript([try service(), slow]).answered(ServiceEnd.no, at: 1)
        #expect(try play.states(at: 2, "app", answers: ServiceEnd.over) == [.ended, .running])
        #expect(try play.states(at: 3, .fetchEnded("app", .unchanged)) == [.ended, .ended])
    }

    @Test func unconfirmedFlagsAreNotStored() throws {
        var play = try Transcript([try service(policy: Policy(confirmClose: 2))])
            .answered(ServiceEnd.no, at: 1)
        let effects = try play.at(2, "app", answers: ServiceEnd.over)
        #expect(effects.allSatisfy { if case .storeFlags = $0 { false } else { true } })
    }

    @Test func flagsForTheNextStartAreStoredAndWait() throws {
        var shop = try service()
        shop.activation = .nextStart
        var play = try Transcript([shop]).answered(ServiceEnd.no, at: 1)
        try play.at(2, "app", answers: ServiceEnd.over)
        play.at(3, .fetchEnded("app", .unchanged))
        play.at(4, .activate(nil))
        play.expectWithoutFetches(
            #"""
            2s app answers {"service_end": "over"} (confirmed)
                store app: {"service_end": "over"} {"service_end": "no"}
            3s app unchanged (confirmed)
            4s activate all
                remember and publish shop ended closed flags #3 until 2027-03-02T00:01:00+00:00
                log notice: shop: ended (was running): set by the flags of source 'app'
            """#)
    }

    @Test func theNextStartPutsTheNewestInForce() throws {
        var shop = try service()
        shop.activation = .nextStart
        var memory = try Memory.stored(ServiceEnd.over, state: .running)
        let older = try answer(
            ServiceEnd.no, fetchedAt: try Instant(rfc3339: "2027-03-01T10:00:00Z"))
        memory.flags["app"]?.answers.append(older)
        var play = try Transcript([shop], memory: memory)
        #expect(play.states(at: 0, .started) == [.ended])
    }
}
