import CivilTime
import Decision
import Support
import Testing

/// The orders of a drill: an order for an open gate only, and a release that ends no other order.
@Suite struct OrderIfOpenTests {
    private let shop: ServiceName = "shop"

    private func order(
        _ state: State = .maintenance, for cause: String = "drill", until: String = "12:01:00"
    ) throws -> Override {
        try .order(state, until: "2027-03-01T\(until)Z", for: cause)
    }

    private func open(
        _ body: String = ServiceEnd.no, format: Format = .serviceEnd, policy: Policy = Policy()
    ) throws -> Transcript {
        var play = try Transcript([try service(format: format, policy: policy)]).started()
        try play.at(1, "app", answers: body)
        return play
    }

    private func state(_ play: Transcript) -> State? {
        play.machine.publishedVerdict(of: shop)?.verdict.state
    }

    @Test func aDrillClosesAnOpenGateAndIsReleasedByItsCause() throws {
        var play = try open(policy: Policy(minClosed: .zero))
        play.forget()
        play.at(2, .force(shop, try order(), ifOpen: true))
        play.at(3, .release(shop, by: "root", only: "drill"))
        play.expectWithoutFetches(
            #"""
            2s force shop maintenance if open
                keep shop=maintenance
                remember and publish shop maintenance closed override #3 until 2027-03-01T12:02:00+00:00
                log notice: shop: maintenance (was running): forced by 'root' until 2027-03-01T12:01:00+00:00: 'drill'
            3s root releases shop from 'drill'
                keep 
                remember and publish shop running open flags #4 until 2027-03-02T00:01:00+00:00
                log notice: shop: released from maintenance by 'root'; the flags decide again
                log notice: shop: running (was maintenance): set by the flags of source 'app'
            """#)
    }

    @Test func aDrillChangesNothingWhereFlagsHaveClosed() throws {
        var play = try open(#"{"service_end": "yes"}"#)
        play.forget()
        let effects = play.at(2, .force(shop, try order(), ifOpen: true))
        #expect(play.text == "2s force shop maintenance if open\n")
        #expect(effects == [.reject(shop, try order(), .notOpen(.ended))])
    }

    @Test func aDrillChangesNothingBeforeTheFirstVerdict() throws {
        var play = try Transcript([try service()])
        let early = play.at(0, .force(shop, try order(), ifOpen: true))
        #expect(early.contains(.reject(shop, try order(), .notOpen(.undecided))))
        play.at(0, .started)
        let effects = play.at(0, .force(shop, try order(), ifOpen: true))
        #expect(state(play) == .undecided)
        #expect(effects == [.reject(shop, try order(), .notOpen(.undecided))])
    }

    /// Also an order that opens the gate is not replaced: it would end with the drill.
    @Test(arguments: [State.running, .maintenance]) func aDrillReplacesNoOtherOrder(
        _ forced: State
    ) throws {
        var play = try open()
        let override = try order(forced, for: "audit", until: "13:00:00")
        play.at(2, .force(shop, override))
        play.forget()
        let effects = play.at(3, .force(shop, try order(.ended), ifOpen: true))
        #expect(play.text == "3s force shop ended if open\n")
        #expect(effects == [.reject(shop, try order(.ended), .overridden(override))])
    }

    @Test func aDrillClosesNothingThatTheHostGuardHolds() throws {
        let plan = Plan(
            sources: [SourcePlan(name: "app", interval: .seconds(60))], services: [try service()],
            guardLimits: GuardLimits(count: 0))
        var play = try Transcript(plan: plan).answered(ServiceEnd.no, at: 1)
        try play.at(2, "app", answers: #"{"service_end": "yes"}"#)
        let effects = play.at(3, .force(shop, try order(), ifOpen: true))
        #expect(effects == [.reject(shop, try order(), .held)])
        #expect(state(play) == .running)
    }

    /// An end has just come, and its wake-up is behind the order in the queue.
    @Test func anEndThatHasJustComeCountsBeforeTheOrder() throws {
        var play = try open(
            #"{"service_end": "countdown", "service_countdown": "2027-03-01T12:00:30Z"}"#)
        #expect(state(play) == .countdown)
        let effects = play.at(30, .force(shop, try order(), ifOpen: true))
        #expect(state(play) == .ended)
        #expect(effects.contains(.reject(shop, try order(), .notOpen(.ended))))
    }

    @Test func anExpiredOrderDoesNotBlockANewOne() throws {
        var play = try open(policy: Policy(minClosed: .zero))
        play.at(2, .force(shop, try order(.running, for: "audit", until: "12:00:10")))
        play.at(10, .force(shop, try order(), ifOpen: true))
        #expect(state(play) == .maintenance)
        #expect(play.machine.publishedVerdict(of: shop)?.verdict.override == (try order()))
    }

    @Test func aReleaseForOneCauseEndsNoOtherOrder() throws {
        var play = try open()
        play.at(2, .force(shop, try order(), ifOpen: true))
        play.at(3, .force(shop, try order(.ended, for: "a real one", until: "13:00:00")))
        #expect(play.at(4, .release(shop, by: "root", only: "drill")) == [])
        #expect(state(play) == .ended)
        play.at(5, .release(shop, by: "root"))
        let effects = play.at(6, .force(shop, try order(), ifOpen: true))
        #expect(effects == [.reject(shop, try order(), .notOpen(.ended))])
    }

    /// A reload may remove the service while the order is in the queue.
    @Test func aDrillIsRejectedForAServiceThatIsNotConfigured() throws {
        var play = try open()
        let effects = play.at(2, .force("other", try order(), ifOpen: true))
        #expect(effects == [.reject("other", try order(), .notConfigured)])
    }

    /// Swift's `==` takes canonically equivalent strings for equal; causes are compared byte by byte.
    @Test func aCauseIsTheSameToTheByte() throws {
        var play = try open()
        play.at(2, .force(shop, try order(for: "caf\u{E9}")))
        #expect(play.at(3, .release(shop, by: "root", only: "cafe\u{301}")) == [])
        #expect(state(play) == .maintenance)
    }
}

/// Orders that force no state: each names its author, and moves no gate by itself.
@Suite struct OrderTests {
    @Test func aSourceThatIsForgottenIsAskedAnewAndMovesNothingUntilItAnswers() throws {
        var play = try Transcript([try service()]).answered(ServiceEnd.no, at: 1)
        play.at(2, .forget("app", by: "root (uid 0)"))
        try play.at(3, "app", answers: ServiceEnd.over)
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
            .answered(ServiceEnd.no, at: 1)
        play.at(2, .forget("app", by: "root (uid 0)"))
        #expect(play.states(at: 31) == [.running])
        play.at(32, .woke)
        #expect(play.machine.publishedVerdict(of: "shop")?.verdict.reason.slug == .unknownClosed)
    }

    @Test func theHighestVersionIsForgottenToo() throws {
        var play = try Transcript([try service(format: .switchObject(.whole))])
            .answered(#"{"state": "running", "version": 7}"#, at: 1)
        try play.at(2, "app", answers: #"{"state": "ended", "version": 1}"#)
        #expect(play.states == [.running])
        play.at(3, .forget("app", by: "root (uid 0)"))
        try play.at(4, "app", answers: #"{"state": "ended", "version": 1}"#)
        #expect(play.states == [.ended])
    }

    @Test func aSourceThatNobodyHasCannotBeForgotten() throws {
        var play = try Transcript([try service()]).started()
        play.forget()
        #expect(try play.at(1, .forget("other", by: "root (uid 0)")) == [])
    }

    @Test func aRepeatedOrderIsInTheJournalWithItsAuthor() throws {
        var play = try Transcript([try service(policy: Policy(minClosed: .zero))])
        play.at(0, .started)
        try play.at(1, "app", answers: ServiceEnd.no)
        play.at(2, .force("shop", try .order(.ended, by: "alice (uid 1)")))
        play.forget()
        play.at(3, .force("shop", try .order(.ended, by: "bob (uid 2)")))
        play.at(4, .force("shop", try .order(.ended, by: "bob (uid 2)")))
        play.at(5, .release("shop", by: "carol (uid 3)"))
        play.at(6, .release("shop", by: "carol (uid 3)"))
        #expect(
            play.textWithoutFetches.split(separator: "\n").filter { $0.contains("log") } == [
                "    log notice: shop: 'bob (uid 2)' forces state ended: 'disk swap'",
                "    log notice: shop: released from ended by 'carol (uid 3)'; the flags decide again",
                "    log notice: shop: running (was ended): set by the flags of source 'app'",
            ])
    }
}
