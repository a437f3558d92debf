import CivilTime
import Decision
import Support
import Testing

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
        play.expect(
            withoutFetches: true,
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
                log warning: source 'app': down; the last good flags stay in force, retrying in 27 s
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
        play.expect(
            withoutFetches: true,
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
        var memory = try Memory.stored(
            ServiceEnd.over, fetchedAt: "2027-03-01T11:00:00Z", state: .running, boot: "this-boot")
        let older = try answer(
            ServiceEnd.no, fetchedAt: try Instant(rfc3339: "2027-03-01T10:00:00Z"))
        memory.flags["app"]?.answers.append(older)
        var play = try Transcript([shop], memory: memory)
        #expect(play.states(at: 0, .started) == [.ended])
    }
}
