import CivilTime
import Decision
import Testing

/// A drill from the order to its findings.
@Suite struct DrillMachineTests {
    @Test func aDrillThatSucceedsClosesTriesEachStartOpensAndTimesTheReturn() throws {
        var drill = try DrillTranscript()
        drill.at(0, .started)
        drill.at(0.01, .ordered)
        drill.at(0.02, .standing(.ordered))
        try drill.list(0.03, .closing)
        drill.at(0.08, .woke)
        drill.at(0.08, .standing(.ordered))
        try drill.list(0.5, .closed)
        try drill.read(0.51, ["web.service": .wentDown(at: 0.4)])
        drill.at(0.52, .standing(.ordered))
        drill.at(0.53, .tried(.refused))
        drill.at(0.54, .standing(.ordered))
        try drill.read(0.9, ["page.service": .cameUp(at: 0.5)])
        drill.at(1, .unitProblems([:], problem: nil))
        drill.at(1.1, .released(.open))
        try drill.list(1.2, .opening)
        drill.at(1.2, .standing(.open))
        drill.at(1.25, .woke)
        try drill.list(1.3, .open)
        drill.at(1.3, .standing(.open))
        try drill.end(1.4, web: .cameUp(at: 1.25, downAt: 0.4), .open)
        #expect(
            drill.text == """
                0s started
                    tell closing 'shop' as maintenance, for at most 10 s
                    order
                0.01s ordered
                    read standing
                0.02s standing: ordered
                    list
                0.03s listed page.service=inactive web.service=deactivating
                    wait 50 ms
                0.08s woke
                    read standing
                0.08s standing: ordered
                    list
                0.5s listed page.service=active web.service=inactive
                    read web.service
                0.51s read web.service
                    read standing
                0.52s standing: ordered
                    try to start web.service within 5000 ms
                0.53s tried: refused
                    read standing
                0.54s standing: ordered
                    read page.service
                0.9s read page.service
                    read unit problems
                1s no unit problems
                    tell opening 'shop' again
                    release
                1.1s released: open
                    list
                1.2s listed page.service=inactive web.service=activating
                    read standing
                1.2s standing: open
                    wait 50 ms
                1.25s woke
                    list
                1.3s listed page.service=inactive web.service=active
                    read standing
                1.3s standing: open
                    read web.service page.service killswitch-open@shop.target
                1.4s read killswitch-open@shop.target page.service web.service
                    read unit problems
                1.4s no unit problems
                    read standing
                1.4s standing: open
                    finish: open, closed for 1100 ms
                    web.service: stop 400 ms, refused, start 250 ms
                    page.service: stop 200 ms, -, start 500 ms

                """)
    }

    @Test func aUnitThatDoesNotStopIsWaitedForUntilTheOrderIsOver() throws {
        var drill = try DrillTranscript.closing()
        try drill.list(0.5, .closing)
        drill.at(2, .woke)
        drill.at(2, .standing(.ordered))
        try drill.list(2, .closing)
        drill.at(10, .woke)
        try drill.read(
            10,
            [
                "web.service": UnitSnapshot(UnitStatus(.deactivating)),
                "page.service": .wentDown(at: -9),
            ])
        drill.at(10, .unitProblems([try name("web.service"): "it is late"], problem: nil))
        drill.at(10, .released(.open))
        try drill.list(10.1, .closing)
        drill.at(10.1, .standing(.open))
        drill.at(12, .woke)
        try drill.list(12, .open)
        drill.at(12, .standing(.open))
        try drill.end(12.1, web: .cameUp(at: 11.9, downAt: 11.5), .open)
        #expect(
            drill.text == """
                0.5s listed page.service=inactive web.service=deactivating
                    wait 50 ms
                2s woke
                    read standing
                2s standing: ordered
                    list
                2s listed page.service=inactive web.service=deactivating
                    tell after 2 s waiting for web.service (deactivating)
                    wait 50 ms
                10s woke
                    read web.service page.service
                10s read page.service web.service
                    read unit problems
                10s unit problems: web.service it is late
                    tell opening 'shop' again
                    release
                10s released: open
                    list
                10.1s listed page.service=inactive web.service=deactivating
                    read standing
                10.1s standing: open
                    wait 50 ms
                12s woke
                    list
                12s listed page.service=inactive web.service=active
                    read standing
                12s standing: open
                    read web.service page.service killswitch-open@shop.target
                12.1s read killswitch-open@shop.target page.service web.service
                    read unit problems
                12.1s no unit problems
                    read standing
                12.1s standing: open
                    finish: open, closed for 10000 ms
                    web.service: stop 11500 ms, -, start 1900 ms, it was not down after 10 s
                    page.service: stop -, -, start -

                """)
    }

    @Test func aUnitThatDoesNotComeBackIsWaitedForAsLongAsItMayTakeToStart() throws {
        var drill = try DrillTranscript.closed()
        drill.at(1, .released(.open))
        drill.forget()
        try drill.list(1.1, .opening)
        drill.at(1.1, .standing(.open))
        drill.at(6, .woke)
        try drill.list(6, .opening)
        drill.at(6, .standing(.open))
        drill.at(6.1, .woke)
        try drill.list(6.1, .opening)
        drill.at(6.1, .standing(.open))
        var web = UnitSnapshot.wentDown(at: 0.4, .activating)
        web.leftDown = nil
        try drill.end(6.2, web: web, .open)
        #expect(
            drill.text == """
                1.1s listed page.service=inactive web.service=activating
                    read standing
                1.1s standing: open
                    wait 50 ms
                6s woke
                    list
                6s listed page.service=inactive web.service=activating
                    read standing
                6s standing: open
                    tell after 5 s waiting for web.service (activating)
                    wait 50 ms
                6.1s woke
                    list
                6.1s listed page.service=inactive web.service=activating
                    read standing
                6.1s standing: open
                    read web.service page.service killswitch-open@shop.target
                6.2s read killswitch-open@shop.target page.service web.service
                    read unit problems
                6.2s no unit problems
                    read standing
                6.2s standing: open
                    finish: open, closed for 1100 ms
                    web.service: stop 400 ms, refused, start -, it is not up after 5 s
                    page.service: stop 200 ms, -, start 500 ms

                """)
    }

    @Test func somebodyElsesOrderEndsTheDrillAndIsLeftInForce() throws {
        var drill = try DrillTranscript.closing()
        try drill.list(0.5, .closing)
        drill.at(0.6, .woke)
        drill.at(0.6, .standing(.forced("root has forced ended: a leak")))
        try drill.read(
            0.7,
            [
                "web.service": UnitSnapshot(UnitStatus(.deactivating)),
                "page.service": .wentDown(at: -9),
            ])
        drill.at(0.7, .unitProblems([:], problem: nil))
        drill.at(0.8, .released(.forced("root has forced ended: a leak")))
        try drill.end(
            0.9, web: .wentDown(at: 0.8), .forced("root has forced ended: a leak"))
        #expect(
            drill.text == """
                0.5s listed page.service=inactive web.service=deactivating
                    wait 50 ms
                0.6s woke
                    read standing
                0.6s standing: forced: root has forced ended: a leak
                    read web.service page.service
                0.7s read page.service web.service
                    read unit problems
                0.7s no unit problems
                    tell opening 'shop' again
                    release
                0.8s released: forced: root has forced ended: a leak
                    read web.service page.service killswitch-open@shop.target
                0.9s read killswitch-open@shop.target page.service web.service
                    read unit problems
                0.9s no unit problems
                    read standing
                0.9s standing: forced: root has forced ended: a leak
                    finish: closed, interrupted, somebody else has the service now: root has \
                forced ended: a leak
                    web.service: stop 800 ms, -, start -
                    page.service: stop -, -, start -

                """)
    }

    @Test func flagsThatCloseMeanwhileEndTheWaitForTheUnits() throws {
        var drill = try DrillTranscript.closed()
        drill.at(1, .released(.open))
        drill.forget()
        try drill.list(1.1, .opening)
        drill.at(1.1, .standing(.closed("the flags of source 'app' say so")))
        #expect(
            drill.text == """
                1.1s listed page.service=inactive web.service=activating
                    read standing
                1.1s standing: closed: the flags of source 'app' say so
                    read web.service page.service killswitch-open@shop.target

                """)
    }

    @Test func aSignalOpensTheGateAtOnceAndWhatTheDrillDidNotGetToIsNotBlamed() throws {
        var drill = try DrillTranscript.closing()
        drill.at(0.4, .interrupted)
        try drill.list(0.5, .closing)
        drill.at(0.5, .woke)
        try drill.read(
            0.6,
            [
                "web.service": UnitSnapshot(UnitStatus(.deactivating)),
                "page.service": .wentDown(at: -9),
            ])
        drill.at(0.6, .unitProblems([:], problem: nil))
        drill.at(0.7, .released(.open))
        try drill.list(0.8, .closing)
        drill.at(0.8, .standing(.open))
        drill.at(0.9, .woke)
        try drill.list(0.9, .opening)
        drill.at(0.9, .standing(.open))
        try drill.end(1, web: UnitSnapshot(UnitStatus(.activating)), .open)
        #expect(
            drill.text == """
                0.4s interrupted
                0.5s listed page.service=inactive web.service=deactivating
                    wait 50 ms
                0.5s woke
                    read web.service page.service
                0.6s read page.service web.service
                    read unit problems
                0.6s no unit problems
                    tell opening 'shop' again
                    release
                0.7s released: open
                    list
                0.8s listed page.service=inactive web.service=deactivating
                    read standing
                0.8s standing: open
                    wait 50 ms
                0.9s woke
                    list
                0.9s listed page.service=inactive web.service=activating
                    read standing
                0.9s standing: open
                    read web.service page.service killswitch-open@shop.target
                1s read killswitch-open@shop.target page.service web.service
                    read unit problems
                1s no unit problems
                    read standing
                1s standing: open
                    finish: open, closed for 1100 ms, interrupted
                    web.service: stop -, -, start -
                    page.service: stop 600 ms, -, start -

                """)
    }

    @Test func afterASecondSignalNothingIsWaitedFor() throws {
        var drill = try DrillTranscript.closed()
        drill.at(1, .interrupted)
        drill.at(1, .interrupted)
        drill.at(1, .daemonUnreachable)
        #expect(
            drill.text == """
                1s no unit problems
                    tell opening 'shop' again
                    release
                1s interrupted
                1s interrupted
                1s the daemon does not answer
                    tell killswitchd does not answer, waiting for it: it opens the gate again
                    read web.service page.service killswitch-open@shop.target

                """)
    }

    /// A stop that takes longer than the order: no start by hand is tried in the last half second, and
    /// one that ends after the order was over shows nothing.
    @Test func noStartByHandIsJudgedAfterTheOrderIsOver() throws {
        var late = try DrillTranscript.closing()
        try late.list(9.6, .closed)
        try late.read(9.6, ["web.service": .wentDown(at: 9.5)])
        late.at(9.6, .standing(.ordered))
        #expect(
            late.text == """
                9.6s listed page.service=active web.service=inactive
                    read web.service
                9.6s read web.service
                    read standing
                9.6s standing: ordered
                    read page.service

                """)

        var slow = try DrillTranscript.closing()
        try slow.list(8, .closed)
        try slow.read(8, ["web.service": .wentDown(at: 7.9)])
        slow.at(8, .standing(.ordered))
        slow.forget()
        slow.at(10, .tried(.accepted))
        #expect(
            slow.text == """
                10s tried: accepted
                    read page.service

                """)
    }

    /// The daemon stores the end in whole seconds, and ends an order early after a restart.
    @Test func anOrderThatEndsInItsLastSecondIsOverAndOneThatEndsBeforeIsAProblem() throws {
        var over = try DrillTranscript.closing()
        try over.list(9, .closing)
        over.at(9.1, .woke)
        over.at(9.1, .standing(.open))
        try over.read(9.1, [:])
        over.at(9.1, .unitProblems([:], problem: nil))
        over.at(9.1, .released(.open))
        over.forget()
        try over.list(9.2, .open)
        over.at(9.2, .standing(.open))
        try over.end(9.3, web: .cameUp(at: 9.2, downAt: 9.15), .open)
        #expect(
            over.text == """
                9.2s listed page.service=inactive web.service=active
                    read standing
                9.2s standing: open
                    read web.service page.service killswitch-open@shop.target
                9.3s read killswitch-open@shop.target page.service web.service
                    read unit problems
                9.3s no unit problems
                    read standing
                9.3s standing: open
                    finish: open, closed for 9100 ms
                    web.service: stop 9150 ms, -, start 100 ms, systemd could not be asked about \
                it
                    page.service: stop -, -, start -

                """)

        var early = try DrillTranscript.closing()
        try early.list(5, .closing)
        early.at(5.1, .woke)
        early.at(5.1, .standing(.open))
        try early.read(5.1, [:])
        early.at(5.1, .unitProblems([:], problem: nil))
        early.at(5.1, .released(.open))
        early.forget()
        try early.list(5.2, .open)
        early.at(5.2, .standing(.open))
        try early.end(5.3, web: .cameUp(at: 5.2, downAt: 5.15), .open)
        #expect(
            early.text == """
                5.2s listed page.service=inactive web.service=active
                    read standing
                5.2s standing: open
                    read web.service page.service killswitch-open@shop.target
                5.3s read killswitch-open@shop.target page.service web.service
                    read unit problems
                5.3s no unit problems
                    read standing
                5.3s standing: open
                    finish: open, closed for 5100 ms, interrupted, somebody has ended the drill's \
                order before its time
                    web.service: stop 5150 ms, -, start 100 ms
                    page.service: stop -, -, start -

                """)
    }

    @Test func aDaemonThatDoesNotAnswerIsWaitedForUntilAMinuteAfterTheOrder() throws {
        var drill = try DrillTranscript.closed()
        drill.at(1, .daemonUnreachable)
        drill.at(1.2, .woke)
        drill.at(1.2, .daemonUnreachable)
        drill.at(69.9, .woke)
        drill.at(69.9, .daemonUnreachable)
        drill.at(70.1, .woke)
        drill.at(70.1, .daemonUnreachable)
        #expect(
            drill.text == """
                1s no unit problems
                    tell opening 'shop' again
                    release
                1s the daemon does not answer
                    tell killswitchd does not answer, waiting for it: it opens the gate again
                    wait 200 ms
                1.2s woke
                    release
                1.2s the daemon does not answer
                    wait 200 ms
                69.9s woke
                    release
                69.9s the daemon does not answer
                    wait 200 ms
                70.1s woke
                    release
                70.1s the daemon does not answer
                    read web.service page.service killswitch-open@shop.target

                """)
    }

    @Test func aDaemonThatIsBackOpensTheGate() throws {
        var drill = try DrillTranscript.closed()
        drill.at(1, .daemonUnreachable)
        drill.at(3, .woke)
        drill.forget()
        drill.at(3.1, .released(.open))
        #expect(
            drill.text == """
                3.1s released: open
                    list

                """)
    }

    @Test func minClosedIsWaitedForAndTheGateCountsAsClosedUntilItWasLastSeenSo() throws {
        var drill = try DrillTranscript.closed()
        drill.at(1, .released(.kept))
        drill.at(1.1, .standing(.kept))
        drill.at(3, .woke)
        drill.at(3, .standing(.kept))
        drill.at(3.05, .woke)
        drill.at(3.05, .standing(.open))
        try drill.list(3.1, .open)
        drill.at(3.1, .standing(.open))
        drill.forget()
        try drill.end(3.2, web: .cameUp(at: 3.02, downAt: 0.4), .open)
        #expect(
            drill.text == """
                3.2s read killswitch-open@shop.target page.service web.service
                    read unit problems
                3.2s no unit problems
                    read standing
                3.2s standing: open
                    finish: open, closed for 3000 ms
                    web.service: stop 400 ms, refused, start 20 ms
                    page.service: stop -, -, start 500 ms

                """)
    }

    @Test func aDrillThatWasBrokenOffWaitsFiveSecondsForMinClosed() throws {
        var drill = try DrillTranscript.closed()
        drill.at(1, .interrupted)
        drill.at(1, .released(.kept))
        drill.at(1.1, .standing(.kept))
        drill.at(6, .woke)
        #expect(
            drill.text == """
                1s no unit problems
                    tell opening 'shop' again
                    release
                1s interrupted
                1s released: kept
                    tell min_closed keeps the gate closed for a moment
                    read standing
                1.1s standing: kept
                    wait 50 ms
                6s woke
                    read web.service page.service killswitch-open@shop.target

                """)
    }

    @Test func aSystemdThatCannotBeAskedOpensTheGate() throws {
        var drill = try DrillTranscript.closing()
        drill.at(5, .failed("list units: connection refused"))
        try drill.read(5.1, [:], problem: "read unit 'web.service': connection refused")
        drill.at(5.1, .unitProblems([:], problem: nil))
        drill.at(5.2, .released(.open))
        drill.at(5.3, .failed("list units: connection refused"))
        try drill.read(5.4, [:], problem: "read unit 'web.service': connection refused")
        drill.at(5.4, .unitProblems([:], problem: nil))
        drill.at(5.4, .standing(.open))
        #expect(
            drill.text == """
                5s failed: list units: connection refused
                    read web.service page.service
                5.1s read , then: read unit 'web.service': connection refused
                    read unit problems
                5.1s no unit problems
                    tell opening 'shop' again
                    release
                5.2s released: open
                    list
                5.3s failed: list units: connection refused
                    read web.service page.service killswitch-open@shop.target
                5.4s read , then: read unit 'web.service': connection refused
                    read unit problems
                5.4s no unit problems
                    read standing
                5.4s standing: open
                    finish: open, interrupted, list units: connection refused
                    web.service: stop -, -, start -
                    page.service: stop -, -, start -

                """)
    }

    /// Its target waits for a unit that is slow to stop, and then for a daemon that should move it.
    @Test func aGateThatDoesNotOpenIsGivenUpAMinuteAfterTheLongestStop() throws {
        var drill = try DrillTranscript.closed()
        drill.at(1, .released(.open))
        drill.forget()
        try drill.list(80, .closed)
        drill.at(80, .standing(.open))
        drill.at(151, .woke)
        try drill.list(151, .closed)
        drill.at(151, .standing(.open))
        #expect(
            drill.text == """
                80s listed page.service=active web.service=inactive
                    read standing
                80s standing: open
                    tell after 79 s waiting for web.service (inactive), page.service (active)
                    wait 50 ms
                151s woke
                    list
                151s listed page.service=active web.service=inactive
                    read standing
                151s standing: open
                    read web.service page.service killswitch-open@shop.target

                """)
    }
}
