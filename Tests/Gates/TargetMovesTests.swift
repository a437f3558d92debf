import Decision
import Gates
import Support
import Testing

/// What root's mover asks of systemd: the orders of a service beside the targets that systemd lists.
struct TargetMovesTests {
    private func due(
        _ orders: String, _ listed: [String: ListedTarget] = [:], _ record: String = ""
    ) throws -> String {
        let lines = orders.split(separator: ", ").map { "\($0)\n" }.joined()
        let orders = try #require(TargetOrders(Array(lines.utf8), of: "shop"))
        let targets = try listed.map { word, state in
            (try #require(GateTarget("killswitch-\(word)@shop.target" as UnitName)), state)
        }
        let jobs = orders.due(
            Dictionary(uniqueKeysWithValues: targets), MoverRecord("request 1\n" + record))
        return TargetJob.inOrder(jobs).map {
            "\($0.isStart ? "start" : "stop") \($0.target.kind.word)"
        }.joined(separator: ", ")
    }

    private static let open = "stop closed, stop maintenance, start open"
    private static let closed = "stop open, start closed, start maintenance"

    @Test func whatIsDownIsStartedAndWhatIsUpIsLeft() throws {
        #expect(try due(Self.open) == "start open")
        #expect(try due(Self.open, ["open": ListedTarget(.active)]) == "")
        #expect(try due("") == "")
    }

    /// One start brings the closed target and stops the open one.
    @Test func aClosingIsOneStart() throws {
        #expect(try due(Self.closed, ["open": ListedTarget(.active)]) == "start maintenance")
    }

    @Test func aTargetThatAnotherStartDoesNotBringIsNamedWhereThatIsRefused() throws {
        let record = "start killswitch-maintenance@shop.target refused some.Error words of it\n"
        #expect(
            try due(Self.closed, ["open": ListedTarget(.active)], record)
                == "start closed, start maintenance")
    }

    @Test func whatWillBeSoWhenTheJobsAreOverIsNotAskedFor() throws {
        let starting = ListedTarget(.inactive, isStarting: true)
        let stopping = ListedTarget(.active, isStarting: false)
        #expect(try due(Self.open, ["open": starting]) == "")
        #expect(try due(Self.open, ["open": stopping]) == "start open")
        #expect(try due("stop open", ["open": stopping]) == "")
        #expect(try due("stop open", ["open": starting]) == "stop open")
        #expect(try due("start open", ["open": ListedTarget(.deactivating)]) == "start open")
        #expect(try due("start open", ["open": ListedTarget(.activating)]) == "")
    }

    /// As somebody leaves them whose start has replaced the stop of the open target.
    @Test func ofTwoTargetsThatAreUpTheWrongOneIsStopped() throws {
        let both = ["open": ListedTarget(.active), "closed": ListedTarget(.active)]
        #expect(try due("stop open, start closed", both) == "stop open")
        #expect(try due("stop closed, start open", both) == "stop closed")
    }

    @Test func aNumberIsCarriedOutOnceWhateverTheTargetShows() throws {
        let orders = "stop closed, start open, start open 7"
        let up = ["open": ListedTarget(.active)]
        let done = { (number: Int) in "start killswitch-open@shop.target \(number) job 12\n" }
        #expect(try due(orders, up) == "start open")
        #expect(try due(orders, up, done(6)) == "start open")
        #expect(try due(orders, up, done(7)) == "")
        #expect(try due(orders, up, done(8)) == "")
        #expect(try due(orders, [:], done(7)) == "start open")
    }

    /// The conflict of the closed target with one that is down stops nothing.
    @Test func aNewClosingStopsTheOpenTargetToo() throws {
        let orders = "stop open, start closed, start maintenance, stop open 7, start closed 7"
        #expect(try due(orders) == "stop open, start closed, start maintenance")
        let up = ["closed": ListedTarget(.active), "maintenance": ListedTarget(.active)]
        #expect(try due(orders, up) == "stop open, start closed")
    }

    @Test func closingsOfAllServicesGoFirstAndStatesLast() throws {
        let jobs =
            try ["open@a", "countdown@a", "closed@b", "update-required@b"].map {
                TargetJob.start(try #require(GateTarget("killswitch-\($0).target" as UnitName)))
            } + [.stop(try #require(GateTarget("killswitch-open@b.target" as UnitName)))]
        #expect(
            TargetJob.inOrder(jobs).map(\.text) == [
                "stop killswitch-open@b.target", "start killswitch-closed@b.target",
                "start killswitch-open@a.target", "start killswitch-countdown@a.target",
                "start killswitch-update-required@b.target",
            ])
    }

    @Test func theRecordIsReadAsItIsWritten() throws {
        let text = """
            request 17
            attached 12
            attaching refused some.Error not now
            start killswitch-open@shop.target 1700000 job 4711
            start killswitch-variant@shop:blue.target 0 job 5
            stop killswitch-open@shop.target refused org.freedesktop.systemd1.NoSuchUnit Unit not found.

            """
        let record = MoverRecord(text)
        #expect(record.text == text)
        #expect(record.request == 17)
        #expect(record.done.count == 2)
        #expect(record.refused.values.first?.obstacle == .noTarget("Unit not found"))
    }

    @Test(arguments: ["", "request\n", "request x\n", "start a b c d\n", "\0\n", "refused\n"])
    func aRecordThatIsNoneSaysNothing(_ text: String) {
        #expect(MoverRecord(text) == MoverRecord())
    }
}
