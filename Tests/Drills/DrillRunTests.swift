import CivilTime
import Decision
import Drills
import Gates
import Testing

/// A drill from the order to its findings, and a drill that is broken off.
@Suite struct DrillRunTests {
    /// No unit is blamed: nobody has asked it to stop.
    @Test func aGateThatCannotBeMovedEndsTheDrillWithItsProblemAndWithoutAFailedUnit() throws {
        var drill = try DrillTranscript()
        drill.at(0.01, .ordered)
        drill.at(0.02, .gateStuck(problem: "its gate cannot be moved: access denied", .ordered))
        try drill.list(0.03, .open)
        drill.at(5.02, .woke)
        drill.at(5.03, .gateStuck(problem: "its gate cannot be moved: access denied", .ordered))
        try drill.read(5.04, ["web.service": UnitSnapshot(UnitStatus(.active))])
        drill.release(5.1, openAt: 5.2)
        try drill.poll(5.3, .open)
        try drill.end(5.4, web: UnitSnapshot(UnitStatus(.active)), .open)
        #expect(try drill.text.contains("its gate cannot be moved: access denied"))
        #expect(try !drill.text.contains("closed for"))
        #expect(try !drill.text.contains("still running"))
    }

    @Test func aDrillThatSucceedsClosesTriesEachStartOpensAndTimesTheReturn() throws {
        var drill = try DrillTranscript()
        drill.at(0.01, .ordered)
        drill.at(0.02, .status(.ordered))
        try drill.list(0.03, .closing)
        drill.at(0.08, .woke)
        drill.at(0.08, .status(.ordered))
        try drill.list(0.5, .closed)
        try drill.read(0.51, ["web.service": .wentDown(at: 0.4)])
        drill.at(0.52, .status(.ordered))
        drill.at(0.53, .tried(.refused))
        drill.at(0.54, .status(.ordered))
        try drill.read(0.9, ["page.service": .cameUp(at: 0.5)])
        drill.release(1, openAt: 1.1)
        try drill.poll(1.2, .opening)
        drill.at(1.25, .woke)
        try drill.poll(1.3, .open)
        try drill.end(1.4, web: .cameUp(at: 1.25, downAt: 0.4), .open)
        #expect(
            try drill.text == """
                    print closing 'shop' as maintenance, for at most 10 s
                    order
                0.01s ordered
                    read status
                0.02s status: ordered
                    list
                0.03s listed page.service=inactive web.service=deactivating
                    wait 50 ms
                0.08s woke
                    read status
                0.08s status: ordered
                    list
                0.5s listed page.service=active web.service=inactive
                    read web.service
                0.51s read web.service
                    read status
                0.52s status: ordered
                    try to start web.service within 5000 ms
                0.53s tried: refused
                    read status
                0.54s status: ordered
                    read page.service
                0.9s read page.service
                    read unit problems
                1s no unit problems
                    print opening 'shop' again
                    release
                1.1s released: open
                    list
                1.2s listed page.service=inactive web.service=activating
                    read status
                1.2s status: open
                    wait 50 ms
                1.25s woke
                    list
                1.3s listed page.service=inactive web.service=active
                    read status
                1.3s status: open
                    read web.service page.service killswitch-open@shop.target
                1.4s read killswitch-open@shop.target page.service web.service
                    read unit problems
                1.4s no unit problems
                    read status
                1.4s status: open
                    finish: open, closed for 1100 ms
                    web.service: stop 400 ms, refused, start 250 ms
                    page.service: stop 200 ms, -, start 500 ms

                """)
    }

    @Test func aSignalOpensTheGateAtOnceAndWhatTheDrillDidNotGetToIsNotBlamed() throws {
        var drill = try DrillTranscript.closing()
        drill.at(0.4, .interrupted)
        try drill.list(0.5, .closing)
        drill.at(0.5, .woke)
        try drill.readStopping(0.6)
        drill.release(0.6, openAt: 0.7)
        try drill.poll(0.8, .closing)
        drill.at(0.9, .woke)
        try drill.poll(0.9, .opening)
        try drill.end(1, web: UnitSnapshot(UnitStatus(.activating)), .open)
        #expect(
            try drill.text == """
                0.4s interrupted
                0.5s listed page.service=inactive web.service=deactivating
                    wait 50 ms
                0.5s woke
                    read web.service page.service
                0.6s read page.service web.service
                    read unit problems
                0.6s no unit problems
                    print opening 'shop' again
                    release
                0.7s released: open
                    list
                0.8s listed page.service=inactive web.service=deactivating
                    read status
                0.8s status: open
                    wait 50 ms
                0.9s woke
                    list
                0.9s listed page.service=inactive web.service=activating
                    read status
                0.9s status: open
                    read web.service page.service killswitch-open@shop.target
                1s read killswitch-open@shop.target page.service web.service
                    read unit problems
                1s no unit problems
                    read status
                1s status: open
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
            try drill.text == """
                1s no unit problems
                    print opening 'shop' again
                    release
                1s interrupted
                1s interrupted
                1s the daemon does not answer
                    print waiting: killswitchd does not answer, and only it opens the gate again
                    read web.service page.service killswitch-open@shop.target

                """)
    }

    @Test func aDrillThatWasBrokenOffWaitsFiveSecondsForMinClosed() throws {
        var drill = try DrillTranscript.closed()
        drill.at(1, .interrupted)
        drill.at(1, .released(.kept))
        drill.at(1.1, .status(.kept))
        drill.at(6, .woke)
        #expect(
            try drill.text == """
                1s no unit problems
                    print opening 'shop' again
                    release
                1s interrupted
                1s released: kept
                    print min_closed keeps the gate closed for a moment
                    read status
                1.1s status: kept
                    wait 50 ms
                6s woke
                    read web.service page.service killswitch-open@shop.target

                """)
    }

    @Test func aSystemdThatCannotBeAskedOpensTheGate() throws {
        var drill = try DrillTranscript.closing()
        drill.at(5, .failed("list units: connection refused"))
        try drill.read(5.1, [:], problem: "read unit 'web.service': connection refused")
        drill.release(5.1, openAt: 5.2)
        drill.at(5.3, .failed("list units: connection refused"))
        try drill.read(5.4, [:], problem: "read unit 'web.service': connection refused")
        drill.at(5.4, .unitProblems([:], problem: nil))
        drill.at(5.4, .status(.open))
        #expect(
            try drill.text == """
                5s failed: list units: connection refused
                    read web.service page.service
                5.1s read , then: read unit 'web.service': connection refused
                    read unit problems
                5.1s no unit problems
                    print opening 'shop' again
                    release
                5.2s released: open
                    list
                5.3s failed: list units: connection refused
                    read web.service page.service killswitch-open@shop.target
                5.4s read , then: read unit 'web.service': connection refused
                    read unit problems
                5.4s no unit problems
                    read status
                5.4s status: open
                    finish: open, interrupted, list units: connection refused
                    web.service: stop -, -, start -
                    page.service: stop -, -, start -

                """)
    }
}
