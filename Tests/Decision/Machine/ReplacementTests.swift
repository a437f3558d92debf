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

    /// The fetch of the old object once never ended, and the source was not polled until a restart.
    @Test func aFetchInFlightIsRepeatedByTheNewObjectAndIsNoFailure() throws {
        var play = try Transcript([try service()]).started()
        play.forget()
        play.at(1, try reconfigured(try service(), .sameAddress))
        play.at(2, try reconfigured(try service(), .otherAddress))
        #expect(play.machine.isProgressing(at: play.now))
        try play.at(3, "app", answers: ServiceEnd.over)
        play.expect(
            #"""
            1s reconfigured app=same
                fetch app
            2s reconfigured app=other
                fetch app
            3s app answers {"service_end": "over"} (stored, confirmed)
                remember and publish shop ended closed flags #2 until 2027-03-02T00:01:00+00:00
                log notice: shop: ended (was undecided): set by the flags of source 'app'
            """#)
    }

    /// Once both the agent and the machine repeated the fetch, and the daemon crashed.
    @Test func anUnchangedObjectContinuesItsFetch() throws {
        var play = try Transcript([try service()]).started()
        play.forget()
        play.at(1, try reconfigured(try service(), defaults: ["x": 1]))
        #expect(play.text == "1s reconfigured\n")
    }

    @Test func anotherObjectFetchesAtOnceWhileTheOldOneWaited() throws {
        var play = try Transcript([try service()]).answered(ServiceEnd.no, at: 1)
        play.at(2, try reconfigured(try service(), .sameAddress))
        #expect(play.text == "2s reconfigured app=same\n    fetch app\n")
    }

    @Test func retryAfterIsObeyedOverAReload() throws {
        let busy = Failure(.unreachable, "503", retryAfter: .seconds(600))
        for replacement in [nil, .sameAddress] as [Replacement?] {
            var play = try Transcript([try service()]).answered(ServiceEnd.no, at: 1)
            play.at(62, .fetchEnded("app", .failure(busy)))
            play.forget()
            play.at(63, try reconfigured(try service(), replacement, interval: .seconds(10)))
            play.forget()
            play.at(600, .woke)
            play.at(723, .woke)
            #expect(play.text == "600s woke\n723s woke\n    fetch app\n")
        }
    }

    /// A mistyped path, or moved flags, must not open an ended service. The last good flags stay in force, and
    /// their ETag is not sent to the new address.
    @Test func theFlagsOfAnotherAddressStayInForceUntilTheNewOneGivesSome() throws {
        var play = try Transcript([try service()]).started()
        var tagged = try answer(ServiceEnd.over, fetchedAt: play.now.wall)
        tagged.validators.etag = "old"
        play.at(1, .fetchEnded("app", .answer(tagged)))
        play.forget()
        play.at(60, try reconfigured(try service(), .otherAddress))
        play.at(61, .fetchEnded("app", .failure(Failure(.unreachable, "no such file"))))
        #expect(play.states(at: 3600) == [.ended])
        try play.at(3601, "app", answers: ServiceEnd.no)
        play.expectWithoutFetches(
            #"""
            60s reconfigured app=other
                publish shop ended closed stored-flags #2 until 2027-03-02T00:01:00+00:00
                log notice: shop: ended: source 'app' has not answered since the start; set by its stored flags
            61s app fails: no such file
                log warning: source 'app': no such file; the last good flags stay in force, retrying in 985 ms
            3600s woke
            3601s app answers {"service_end": "no"} (stored, confirmed)
                remember and publish shop running open flags #3 until 2027-03-02T00:01:00+00:00
                log info: source 'app' answers again
                log notice: shop: running (was ended): set by the flags of source 'app'
            """#)
        let fetches = play.text.split(separator: "\n").filter { $0.hasPrefix("    fetch ") }
        #expect(fetches == ["    fetch app", "    fetch app"])
    }

    /// The flags are stored again under the new address, so that a restart does not take them for inherited.
    @Test func theSameFlagsFromTheNewAddressAreStoredAsItsOwn() throws {
        var play = try Transcript([try service()]).answered(ServiceEnd.over, at: 1)
        play.at(60, try reconfigured(try service(), .otherAddress))
        var tagged = try answer(ServiceEnd.over, fetchedAt: play.now.wall)
        tagged.validators.etag = "new"
        #expect(
            play.at(61, .fetchEnded("app", .answer(tagged))).contains(.storeFlags("app", [tagged])))
        play.at(62, .fetchEnded("app", .answer(tagged)))
        play.forget()
        play.at(200, .woke)
        #expect(play.text == "200s woke\n    fetch app if not new\n")
    }

    /// Another address has its own sequence of versions.
    @Test func aLowerVersionFromAnotherAddressIsNoRollback() throws {
        let shop = try service(format: .switchObject(.whole))
        for replacement in [.sameAddress, .otherAddress] as [Replacement] {
            var play = try Transcript([shop])
                .answered(#"{"state": "running", "version": 9}"#, at: 1)
            play.at(2, try reconfigured(shop, replacement))
            try play.at(3, "app", answers: #"{"state": "ended", "version": 1}"#)
            #expect(play.states == [replacement == .sameAddress ? .running : .ended])
            try play.at(4, "app", answers: #"{"state": "maintenance", "version": 0}"#)
            #expect(play.states == [replacement == .sameAddress ? .running : .ended])
        }
    }

    /// After the new address has confirmed the flags, their version counts for it.
    @Test func aLowerVersionThanTheNewAddressConfirmedIsARollback() throws {
        let shop = try service(format: .switchObject(.whole))
        let known = #"{"state": "running", "version": 9}"#
        var play = try Transcript([shop]).answered(known, at: 1)
        play.at(2, try reconfigured(shop, .otherAddress))
        try play.at(3, "app", answers: known)
        try play.at(4, "app", answers: #"{"state": "ended", "version": 1}"#)
        #expect(play.states == [.running])
    }

    /// The age of inherited flags continues: a reload must not reopen for half a minute a gate that stale
    /// flags have closed.
    @Test func flagsOfAnotherAddressAreAsOldAsTheyWere() throws {
        let policy = Policy(maxStale: .seconds(600), whenStale: .closed, minClosed: .zero)
        let shop = try service(policy: policy)
        var play = try Transcript([shop]).answered(ServiceEnd.no, at: 1)
        play.hang(until: 300)
        play.at(300, try reconfigured(shop, .otherAddress))
        play.hang(until: 600)
        #expect(play.states(at: 600) == [.running])
        #expect(play.states(at: 602) == [.maintenance])
        play.hang(until: 700)
        #expect(try play.states(at: 700, reconfigured(shop, .otherAddress)) == [.maintenance])
    }

    /// A problem of the old object's stream does not hide the same problem of the new one.
    @Test func aReplacedObjectReportsTheSameProblemOfItsStreamAgain() throws {
        var play = try Transcript([try service()]).answered(ServiceEnd.no, at: 1)
        let unwatched = Event.watchChanged("app", problem: "no watch is left")
        play.at(2, unwatched)
        play.forget()
        play.at(3, try reconfigured(try service(), .sameAddress))
        play.at(4, unwatched)
        #expect(play.text.contains("log warning: ") && play.text.contains("no watch is left"))
    }

    /// New defaults change the keys that the answer lacks, and no others.
    @Test func otherDefaultsAreReadFromTheSameFlags() throws {
        var play = try Transcript([try service()]).answered(#"{"service_end": "no"}"#, at: 1)
        play.at(2, try reconfigured(try service(), defaults: ["service_end": "over"]))
        #expect(play.states == [.running])

        let other = try service(format: .serviceEnd(endKeys: ["other"], countdownKey: "at"))
        play.at(3, try reconfigured(other, defaults: ["other": "no"]))
        play.at(4, try reconfigured(other, defaults: ["other": "over"]))
        #expect(play.states == [.ended])
        play.at(5, try reconfigured(other, defaults: ["other": "over", "at": "x"]))
        #expect(play.states(at: 3600) == [.ended])
    }

    /// A reload is no start.
    @Test func flagsForTheNextStartWaitOverOtherDefaultsAndAnotherAddress() throws {
        var shop = try service()
        shop.activation = .nextStart
        var play = try Transcript([shop]).answered(ServiceEnd.no, at: 1)
        try play.at(2, "app", answers: ServiceEnd.over)
        #expect(try play.states(at: 3, reconfigured(shop, defaults: ["x": 1])) == [.running])
        play.at(4, try reconfigured(shop, .otherAddress, defaults: ["x": 1]))
        #expect(play.states == [.running])
        #expect(play.machine.isStaged(shop.name))
        #expect(play.states(at: 5, .activate(nil)) == [.ended])
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
