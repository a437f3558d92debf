import CivilTime
import Decision
import Support
import Testing

/// An override takes precedence over the flags until it expires or is released.
@Suite struct OverrideTests {
    @Test func anOverrideIsStoredBeforeItCountsAndExpiresOnTime() throws {
        var play = try Transcript([try service()])
        play.at(0, .started)
        try play.at(1, "app", answers: ServiceEnd.no)
        play.forget()
        play.at(2, .force("shop", try .order(.maintenance)))
        play.at(3599, .woke)
        play.at(3600, .woke)
        play.expectWithoutFetches(
            #"""
            2s force shop maintenance
                keep shop=maintenance
                remember and publish shop maintenance closed override #3 until 2027-03-01T13:01:00+00:00
                log notice: shop: maintenance (was running): forced by 'root' until 2027-03-01T13:00:00+00:00: 'disk swap'
            3599s woke
                log notice: shop: the order of 'root' (maintenance) ends at 2027-03-01T13:00:00+00:00; then the flags decide
            3600s woke
                keep 
                remember and publish shop running open flags #4 until 2027-03-02T00:01:00+00:00
                log notice: shop: the order of 'root' (maintenance) has expired; the flags decide again
                log notice: shop: running (was maintenance): set by the flags of source 'app'
            """#)
    }

    @Test func anOverrideOutlivesARestartAndOneThatIsOverDoesNot() throws {
        for (until, state) in [
            ("2027-03-01T12:00:01Z", State.ended), ("2027-03-01T11:59:59Z", .running),
        ] {
            var memory = try Memory.stored(ServiceEnd.no, state: .ended)
            memory.ledger.value?.entries["shop"]?.since = try Instant(
                rfc3339: "2027-03-01T11:00:00Z")
            memory.overrides = .known(["shop": try .order(.ended, until: until)])
            var play = try Transcript([try service()], memory: memory)
            play.isSynchronised = true
            #expect(play.states(at: 0, .started) == [state])
        }
    }

    @Test func anOverrideOpensAGateThatIsHeldClosedAndDecidesWhatWasNeverHeard() throws {
        var play = try Transcript([try service()])
        play.at(0, .started)
        #expect(try play.states(at: 0, .force("shop", .order(.ended))) == [.ended])
        #expect(try play.states(at: 1, .force("shop", .order(.running))) == [.running])
        #expect(play.at(2, .release("shop", by: "bob (uid 7)")).contains(.storeOverrides([:])))
    }

    @Test func theStateUndecidedCannotBeOrdered() throws {
        let now = try Instant(rfc3339: "2027-03-01T12:00:00Z")
        #expect(Override(state: .undecided, cause: "", author: "", since: now, until: now) == nil)
    }

    /// After a reboot stored flags that open wait for their source. An override does not wait, whether it
    /// opens or closes.
    @Test(arguments: [State.running, .maintenance]) func anOverrideCountsAtOnceAfterAReboot(
        _ state: State
    ) throws {
        var memory = try Memory.stored(ServiceEnd.no, state: state, boot: "another-boot")
        memory.overrides = .known(["shop": try .order(state)])
        var play = try Transcript([try service()], memory: memory)
        #expect(play.states(at: 0, .started) == [state])
    }

    /// A board without a battery boots in 1970. Until its clock is set, the override is kept, because
    /// nothing shows that it is over.
    @Test func aClockThatIsTooEarlyEndsNoOverride() throws {
        var memory = try Memory.stored(ServiceEnd.no, state: .ended, boot: "another-boot")
        memory.overrides = .known(["shop": try .order(.ended)])
        var play = try Transcript([try service()], memory: memory, start: "1970-01-01T00:00:10Z")
            .answered(ServiceEnd.no, at: 1)
        #expect(play.states == [.ended])
        #expect(play.states(at: 60) == [.ended])
        let now = try Instant(rfc3339: "2027-03-01T13:00:00Z") - play.now.wall
        play.stepClock(60, by: now)
        #expect(play.states == [.running])
    }

    /// A clock that is ahead of the servers' clocks is not believed. After it is corrected, the override is
    /// still in force.
    @Test func aClockThatIsTooLateForgetsNoOverride() throws {
        var play = try Transcript([try service()]).answered(ServiceEnd.no, at: 1)
        play.at(2, .force("shop", try .order(.maintenance)))
        let date = play.now.wall
        play.at(3, .fetchEnded("app", .unchanged, date: date))
        play.stepClock(4, by: .seconds(10 * 3600))
        #expect(play.states == [.maintenance])
        play.stepClock(5, by: .seconds(-10 * 3600))
        #expect(play.states == [.maintenance])
        // Its server told the time long ago: nothing confirms the clock.
        #expect(play.states(at: 3600) == [.maintenance])
        play.at(3601, .fetchEnded("app", .unchanged, date: play.trueTime(at: 3601)))
        #expect(play.states == [.running])
    }

    @Test func anOverrideThatEndsAsAWindowBeginsGivesWayToIt() throws {
        var play = try Transcript([try service(format: .switchObject(.whole))]).started()
        try play.at(
            1, "app",
            answers: #"""
                {"state":"running","windows":[{"from":"2027-03-01T13:00:00Z","until":"2027-03-01T14:00:00Z"}]}
                """#)
        play.at(2, .force("shop", try .order(.running)))
        play.forget()
        play.at(3599, .woke)
        play.at(3600, .woke)
        play.expectWithoutFetches(
            #"""
            3599s woke
                log notice: shop: the order of 'root' (running) ends at 2027-03-01T13:00:00+00:00; then the flags decide
            3600s woke
                keep 
                remember and publish shop maintenance closed window #3 until 2027-03-01T14:01:00+00:00
                log notice: shop: the order of 'root' (running) has expired; the flags decide again
                log notice: shop: maintenance (was running): maintenance planned by source 'app' lasts until 2027-03-01T14:00:00+00:00
            """#)
    }

    /// `min_closed` also counts from a closing by an override.
    @Test func aReleasedGateReopensNoSoonerThanMinClosed() throws {
        var play = try Transcript([try service()]).started().receiving(ServiceEnd.no, at: 1)
        play.at(10, .force("shop", try .order(.maintenance)))
        play.forget()
        let effects = play.at(12, .release("shop", by: "bob (uid 7)"))
        for case .publish(_, let record) in effects { #expect(record.verdict.override == nil) }
        play.at(15, .woke)
        play.expectWithoutFetches(
            #"""
            12s bob (uid 7) releases shop
                keep 
                remember and publish shop maintenance closed min-closed #3 until 2027-03-02T00:01:00+00:00
                log notice: shop: released from maintenance by 'bob (uid 7)'; the flags decide again
                log notice: shop: maintenance: source 'app' opens the gate again at 2027-03-01T12:00:15+00:00 (min_closed 5 s)
            15s woke
                remember and publish shop running open flags #4 until 2027-03-02T00:01:00+00:00
                log notice: shop: running (was maintenance): set by the flags of source 'app'
            """#)
    }

    /// A reload may have removed the service meanwhile: the author of the order waits for an answer.
    @Test func anotherOrderReplacesTheFirstAndOneForAnUnknownServiceIsRejected() throws {
        var play = try Transcript([try service()]).answered(ServiceEnd.no, at: 1)
        play.at(2, .force("shop", try .order(.maintenance)))
        #expect(try play.states(at: 3, .force("shop", .order(.ended))) == [.ended])
        #expect(play.at(4, .force("shop", try .order(.ended))) == [])
        let (web, order) = ("web" as ServiceName, try Override.order(.ended))
        #expect(play.at(5, .force(web, order)) == [.reject(web, order, .notConfigured)])
    }

    /// A full disk prevents no order; the write is retried.
    @Test func anOverrideCountsThoughItCannotBeStored() throws {
        var play = try Transcript([try service()]).answered(ServiceEnd.no, at: 1)
        #expect(try play.states(at: 2, .force("shop", .order(.maintenance))) == [.maintenance])
        play.at(2, .writeEnded(.storeOverrides, problem: "no space left on device"))
        #expect(play.at(3, .woke).contains(.storeOverrides(["shop": try .order(.maintenance)])))
    }
}
