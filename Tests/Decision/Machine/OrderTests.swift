import CivilTime
import Decision
import Testing

/// Orders that force no state: each names its author, and moves no gate by itself.
@Suite struct OrderTests {
    private static let running = #"{"service_end": "no"}"#
    private static let ended = #"{"service_end": "over"}"#

    @Test func aSourceThatIsForgottenIsAskedAnewAndMovesNothingUntilItAnswers() throws {
        var play = try Transcript([try service()]).answered(Self.running, at: 1)
        play.at(2, .forget(try named("app"), by: "root (uid 0)"))
        try play.at(3, "app", answers: Self.ended)
        play.expect(
            #"""
            2s root (uid 0) forgets app
                store app: 
                forget app
                log notice: source 'app': 'root (uid 0)' deleted its stored flags; fetching them again
                fetch app
            3s app answers {"service_end": "over"} (stored, confirmed)
                remember and publish shop ended closed flags #3 until 2027-03-02T00:01:00+00:00
                log notice: shop: ended (was running): set by the flags of source 'app'
            """#)
    }

    @Test func aSourceThatIsForgottenAndNeverAnswersIsUnknownAfterFirstTimeout() throws {
        var play = try Transcript([try service(policy: Policy(whenUnknown: .closed))])
            .answered(Self.running, at: 1)
        play.at(2, .forget(try named("app"), by: "root (uid 0)"))
        #expect(play.states(at: 31) == [.running])
        play.at(32, .woke)
        #expect(
            play.machine.publishedVerdict(of: try named("shop"))?.verdict.reason.slug
                == .unknownClosed)
    }

    @Test func theHighestVersionIsForgottenToo() throws {
        var play = try Transcript([try service(format: .switchObject(.whole))])
            .answered(#"{"state": "running", "version": 7}"#, at: 1)
        try play.at(2, "app", answers: #"{"state": "ended", "version": 1}"#)
        #expect(play.states == [.running])
        play.at(3, .forget(try named("app"), by: "root (uid 0)"))
        try play.at(4, "app", answers: #"{"state": "ended", "version": 1}"#)
        #expect(play.states == [.ended])
    }

    @Test func aSourceThatNobodyHasCannotBeForgotten() throws {
        var play = try Transcript([try service()]).started()
        play.forget()
        #expect(try play.at(1, .forget(named("other"), by: "root (uid 0)")) == [])
    }

    @Test func aRepeatedOrderIsInTheJournalWithItsAuthor() throws {
        var play = try Transcript([try service(policy: Policy(minClosed: .zero))])
        let shop: ServiceName = try named("shop")
        play.at(0, .started)
        try play.at(1, "app", answers: Self.running)
        play.at(2, .force(shop, try .order(.ended, by: "alice (uid 1)")))
        play.forget()
        play.at(3, .force(shop, try .order(.ended, by: "bob (uid 2)")))
        play.at(4, .force(shop, try .order(.ended, by: "bob (uid 2)")))
        play.at(5, .release(shop, by: "carol (uid 3)"))
        play.at(6, .release(shop, by: "carol (uid 3)"))
        #expect(
            play.textWithoutFetches.split(separator: "\n").filter { $0.contains("log") } == [
                "    log notice: shop: 'bob (uid 2)' forces state ended: 'disk swap'",
                "    log notice: shop: released from ended by 'carol (uid 3)'; the flags decide again",
                "    log notice: shop: running (was ended): set by the flags of source 'app'",
            ])
    }
}
