import CivilTime
import Decision
import Drills
import Gates
import Support
import Testing

/// What a drill does while the gate is closed, and when its order ends.
@Suite struct DrillClosingTests {
    @Test func aUnitThatDoesNotStopIsWaitedForUntilTheOrderIsOver() throws {
        var drill = try DrillTranscript.closing()
        try drill.list(0.5, .closing)
        try drill.pollAgain(2, .closing)
        drill.at(10, .woke)
        try drill.readStopping(10)
        drill.at(10, .unitProblems(["web.service": "it is late"], problem: nil))
        drill.at(10, .released(.open))
        try drill.poll(10.1, .closing)
        drill.at(12, .woke)
        try drill.poll(12, .open)
        try drill.end(12.1, web: .cameUp(at: 11.9, downAt: 11.5), .open)
        try drill.expect(
            """
            0.5s list: page.service=inactive web.service=deactivating
            2s wait 50 ms: done
            2s read status: ordered
            2s list: page.service=inactive web.service=deactivating
                print after 2 s waiting for web.service (deactivating)
            10s wait 50 ms: done
            10s read web.service page.service: page.service web.service
            10s read unit problems: web.service it is late
                print opening 'shop' again
            10s release: open
            10.1s list: page.service=inactive web.service=deactivating
            10.1s read status: open
            12s wait 50 ms: done
            12s list: page.service=inactive web.service=active
            12s read status: open
            12.1s read web.service page.service killswitch-open@shop.target: \
            killswitch-open@shop.target page.service web.service
            12.1s read unit problems: none
            12.1s read status: open
                finish: open, closed for 10000 ms
                web.service: stop 11500 ms, -, start 1900 ms, still running after 10 s
                page.service: stop -, -, start -
            """)
    }

    @Test func somebodyElsesOrderEndsTheDrillAndIsLeftInForce() throws {
        var drill = try DrillTranscript.closing()
        try drill.list(0.5, .closing)
        drill.at(0.6, .woke)
        drill.at(0.6, .status(.forced("root has forced ended: a leak")))
        try drill.readStopping(0.7)
        drill.at(0.7, .unitProblems([:], problem: nil))
        drill.at(0.8, .released(.forced("root has forced ended: a leak")))
        try drill.end(0.9, web: .wentDown(at: 0.8), .forced("root has forced ended: a leak"))
        try drill.expect(
            """
            0.5s list: page.service=inactive web.service=deactivating
            0.6s wait 50 ms: done
            0.6s read status: forced: root has forced ended: a leak
            0.7s read web.service page.service: page.service web.service
            0.7s read unit problems: none
                print opening 'shop' again
            0.8s release: forced: root has forced ended: a leak
            0.9s read web.service page.service killswitch-open@shop.target: \
            killswitch-open@shop.target page.service web.service
            0.9s read unit problems: none
            0.9s read status: forced: root has forced ended: a leak
                finish: closed, interrupted, another order has taken over: root has forced ended: a leak
                web.service: stop 800 ms, -, start -
                page.service: stop -, -, start -
            """)
    }

    /// A stop that takes longer than the order: no start by hand is tried in the last half second, and
    /// one that ends after the order was over shows nothing.
    @Test func noStartByHandIsJudgedAfterTheOrderIsOver() throws {
        var late = try DrillTranscript.closing()
        try late.list(9.6, .closed)
        try late.read(9.6, ["web.service": .wentDown(at: 9.5)])
        late.at(9.6, .status(.ordered))
        try late.expect(
            """
            9.6s list: page.service=active web.service=inactive
            9.6s read web.service: web.service
            9.6s read status: ordered
                read page.service
            """)

        var slow = try DrillTranscript.closing()
        try slow.list(8, .closed)
        try slow.read(8, ["web.service": .wentDown(at: 7.9)])
        slow.at(8, .status(.ordered))
        slow.forget()
        slow.at(10, .tried(.accepted))
        try slow.expect(
            """
            10s try to start web.service within 2000 ms: accepted
                read page.service
            """)
    }

    /// The daemon stores the end in whole seconds, and ends an order early after a restart.
    @Test func anOrderThatEndsInItsLastSecondIsOverAndOneThatEndsBeforeIsAProblem() throws {
        let over = try drill(whoseOrderEndsAfter: 9)
        try over.expect(
            """
            9.2s list: page.service=inactive web.service=active
            9.2s read status: open
            9.3s read web.service page.service killswitch-open@shop.target: \
            killswitch-open@shop.target page.service web.service
            9.3s read unit problems: none
            9.3s read status: open
                finish: open, closed for 9100 ms
                web.service: stop 9150 ms, -, start 100 ms, systemd did not answer a \
            question about this unit
                page.service: stop -, -, start -
            """)

        let early = try drill(whoseOrderEndsAfter: 5)
        try early.expect(
            """
            5.2s list: page.service=inactive web.service=active
            5.2s read status: open
            5.3s read web.service page.service killswitch-open@shop.target: \
            killswitch-open@shop.target page.service web.service
            5.3s read unit problems: none
            5.3s read status: open
                finish: open, closed for 5100 ms, interrupted, somebody has ended the \
            drill's order before its time
                web.service: stop 5150 ms, -, start 100 ms
                page.service: stop -, -, start -
            """)
    }

    /// Its order is gone a moment later, while `web.service` still stops.
    private func drill(whoseOrderEndsAfter seconds: Double) throws -> DrillTranscript {
        var drill = try DrillTranscript.closing()
        try drill.list(seconds, .closing)
        drill.at(seconds + 0.1, .woke)
        drill.at(seconds + 0.1, .status(.open))
        try drill.read(seconds + 0.1, [:])
        drill.release(seconds + 0.1, openAt: seconds + 0.1)
        drill.forget()
        try drill.poll(seconds + 0.2, .open)
        try drill.end(seconds + 0.3, web: .cameUp(at: seconds + 0.2, downAt: seconds + 0.15), .open)
        return drill
    }
}
