import CivilTime
import Decision
import Drills
import Gates
import Testing

/// How long a drill waits until the gate is open again, and every unit as before.
@Suite struct DrillOpeningTests {
    @Test func aUnitThatDoesNotComeBackIsWaitedForAsLongAsItMayTakeToStart() throws {
        var drill = try DrillTranscript.closed()
        drill.at(1, .released(.open))
        drill.forget()
        try drill.poll(1.1, .opening)
        drill.at(6, .woke)
        try drill.poll(6, .opening)
        drill.at(6.1, .woke)
        try drill.poll(6.1, .opening)
        var web = UnitSnapshot.wentDown(at: 0.4, .activating)
        web.leftDown = nil
        try drill.end(6.2, web: web, .open)
        try drill.expect(
            """
            1.1s list: page.service=inactive web.service=activating
            1.1s read status: open
            6s wait 50 ms: done
            6s list: page.service=inactive web.service=activating
            6s read status: open
                print after 5 s waiting for web.service (activating)
            6.1s wait 50 ms: done
            6.1s list: page.service=inactive web.service=activating
            6.1s read status: open
            6.2s read web.service page.service killswitch-open@shop.target: \
            killswitch-open@shop.target page.service web.service
            6.2s read unit problems: none
            6.2s read status: open
                finish: open, closed for 1100 ms
                web.service: stop 400 ms, refused, start -, not started after 5 s
                page.service: stop 200 ms, -, start 500 ms
            """)
    }

    @Test func flagsThatCloseMeanwhileEndTheWaitForTheUnits() throws {
        var drill = try DrillTranscript.closed()
        drill.at(1, .released(.open))
        drill.forget()
        try drill.list(1.1, .opening)
        drill.at(1.1, .status(.closed("set by the flags of source 'app'")))
        try drill.expect(
            """
            1.1s list: page.service=inactive web.service=activating
            1.1s read status: closed: set by the flags of source 'app'
                read web.service page.service killswitch-open@shop.target
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
        try drill.expect(
            """
            1s read unit problems: none
                print opening 'shop' again
            1s release: the daemon does not answer
                print waiting: killswitchd does not answer, and only it opens the gate again
            1.2s wait 200 ms: done
            1.2s release: the daemon does not answer
            69.9s wait 200 ms: done
            69.9s release: the daemon does not answer
            70.1s wait 200 ms: done
            70.1s release: the daemon does not answer
                read web.service page.service killswitch-open@shop.target
            """)
    }

    @Test func aDaemonThatIsBackOpensTheGate() throws {
        var drill = try DrillTranscript.closed()
        drill.at(1, .daemonUnreachable)
        drill.at(3, .woke)
        drill.forget()
        drill.at(3.1, .released(.open))
        try drill.expect(
            """
            3.1s release: open
                list
            """)
    }

    @Test func minClosedIsWaitedForAndTheGateCountsAsClosedUntilItWasLastSeenSo() throws {
        var drill = try DrillTranscript.closed()
        drill.at(1, .released(.kept))
        drill.at(1.1, .status(.kept))
        drill.at(3, .woke)
        drill.at(3, .status(.kept))
        drill.at(3.05, .woke)
        drill.at(3.05, .status(.open))
        try drill.poll(3.1, .open)
        drill.forget()
        try drill.end(3.2, web: .cameUp(at: 3.02, downAt: 0.4), .open)
        try drill.expect(
            """
            3.2s read web.service page.service killswitch-open@shop.target: \
            killswitch-open@shop.target page.service web.service
            3.2s read unit problems: none
            3.2s read status: open
                finish: open, closed for 3000 ms
                web.service: stop 400 ms, refused, start 20 ms
                page.service: stop -, -, start 500 ms
            """)
    }

    /// Its target waits for a unit that is slow to stop, and then for a daemon that should move it.
    @Test func aGateThatDoesNotOpenIsGivenUpAMinuteAfterTheLongestStop() throws {
        var drill = try DrillTranscript.closed()
        drill.at(1, .released(.open))
        drill.forget()
        try drill.poll(80, .closed)
        drill.at(151, .woke)
        try drill.poll(151, .closed)
        try drill.expect(
            """
            80s list: page.service=active web.service=inactive
            80s read status: open
                print after 79 s waiting for web.service (inactive), page.service (active)
            151s wait 50 ms: done
            151s list: page.service=active web.service=inactive
            151s read status: open
                read web.service page.service killswitch-open@shop.target
            """)
    }
}
