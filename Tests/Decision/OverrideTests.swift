import CivilTime
import Decision
import Testing

/// What an operator orders stands before the flags, until it expires or is released.
@Suite struct OverrideTests {
    private static let running = #"{"service_end": "no"}"#

    private func order(
        _ state: State, until: String = "2027-03-01T13:00:00Z"
    ) throws -> Override {
        try #require(
            Override(
                state: state, cause: "disk swap", author: "root",
                since: try Instant(rfc3339: "2027-03-01T12:00:00Z"),
                until: try Instant(rfc3339: until)))
    }

    @Test func anOverrideIsStoredBeforeItCountsAndExpiresOnTime() throws {
        var play = try Transcript([try service()])
        let shop: ServiceName = try named("shop")
        play.at(0, .started)
        try play.at(1, "app", answers: Self.running)
        play.forget()
        play.at(2, .override(shop, try order(.maintenance)))
        play.at(3599, .woke)
        play.at(3600, .woke)
        #expect(
            play.textWithoutFetches == #"""
                2s force shop maintenance
                    keep shop=maintenance
                    remember shop=maintenance#3
                    publish shop maintenance closed override #3 until 2027-03-01T13:01:00+00:00
                    say notice: shop: maintenance (was running): 'root' has forced it until 2027-03-01T13:00:00+00:00: 'disk swap'
                3599s woke
                3600s woke
                    keep 
                    remember shop=running#4
                    publish shop running open flags #4 until 2027-03-02T00:01:00+00:00
                    say notice: shop: the time is over for which 'root' forced it to be maintenance, the flags decide again
                    say notice: shop: running (was maintenance): the flags of source 'app' say so

                """#)
    }

    @Test func anOverrideOutlivesARestartAndOneThatIsOverDoesNot() throws {
        let shop: ServiceName = try named("shop")
        for (until, state) in [
            ("2027-03-01T12:00:01Z", State.ended), ("2027-03-01T11:59:59Z", .running),
        ] {
            var memory = try Memory.stored(
                Self.running, fetchedAt: "2027-03-01T11:00:00Z", state: .ended, boot: "this-boot")
            memory.ledger.entries[shop]?.since = try Instant(rfc3339: "2027-03-01T11:00:00Z")
            memory.overrides = [shop: try order(.ended, until: until)]
            var play = try Transcript([try service()], memory: memory)
            play.at(0, .started)
            #expect(play.machine.overview(at: play.now).services.map(\.state) == [state])
        }
    }

    @Test func anOverrideOpensAGateThatIsHeldClosedAndDecidesWhatWasNeverHeard() throws {
        var play = try Transcript([try service()])
        let shop: ServiceName = try named("shop")
        play.at(0, .started)
        play.at(0, .override(shop, try order(.ended)))
        #expect(play.machine.overview(at: play.now).services.map(\.state) == [.ended])
        play.at(1, .override(shop, try order(.running)))
        #expect(play.machine.overview(at: play.now).services.map(\.state) == [.running])
        let effects = play.at(2, .release(shop, by: "bob (uid 7)"))
        #expect(effects.contains(.keep([:])))
    }

    @Test func nobodyCanOrderNotToKnow() throws {
        let now = try Instant(rfc3339: "2027-03-01T12:00:00Z")
        #expect(
            Override(state: .undecided, cause: "", author: "", since: now, until: now) == nil)
    }
}
