import CivilTime
import RemoteFlags
import Testing

/// The order in which the members of an etcd cluster are tried.
@Suite struct MemberOrderTests {
    private let start = Boottime(microseconds: 1_000_000_000)
    private var later: Boottime { start + MemberOrder.avoidance }

    private func order(hanging: Set<Int> = []) -> MemberOrder {
        var order = MemberOrder(of: 4, preferred: 2)
        order.note(hanging: hanging, at: start)
        return order
    }

    @Test func aFetchBeginsWithTheMemberThatAnsweredLast() {
        var order = order()
        #expect(order.order(at: start, isUrgent: false) == [2, 3, 0, 1])
        order.note(answering: 1)
        #expect(order.order(at: start, isUrgent: true) == [1, 2, 3, 0])
        #expect(order.hanging.isEmpty)
    }

    @Test func aMemberThatHangsIsTriedLastForAWhile() {
        let order = order(hanging: [2, 3])
        #expect(order.order(at: start, isUrgent: false) == [0, 1, 2, 3])
        #expect(order.hanging == [2, 3])
        // Then a poll finds out whether one is back, and a fetch for a hint does not wait for that.
        #expect(order.order(at: later, isUrgent: false) == [2, 0, 1, 3])
        #expect(order.order(at: later, isUrgent: true) == [0, 1, 2, 3])
    }

    @Test func aMemberThatAnswersAgainHangsNoLonger() {
        var order = order(hanging: [0, 1, 2, 3])
        #expect(order.order(at: start, isUrgent: true) == [2, 3, 0, 1])
        order.note(answering: 3)
        #expect(order.hanging == [0, 1, 2])
        #expect(order.order(at: later, isUrgent: false) == [0, 3, 1, 2])
    }

    @Test(
        arguments: [
            ([], nil, 0, 2), ([], nil, 1, 3), ([], 2, 0, 3), ([], 2, 3, 3), ([2], nil, 0, 3),
            ([2, 3, 0], 1, 0, 2), ([2, 3, 0], 1, 1, 3), ([0, 1, 2, 3], 2, 0, 3),
        ] as [(Set<Int>, Int?, Int, Int)])
    func aWatchGoesToAHealthyMemberBesideTheOther(
        _ hanging: Set<Int>, _ other: Int?, _ failures: Int, _ member: Int
    ) {
        #expect(order(hanging: hanging).watched(beside: other, after: failures) == member)
    }

    @Test func theOnlyMemberIsAlwaysTried() {
        var order = MemberOrder(of: 1, preferred: 0)
        order.note(hanging: [0], at: start)
        #expect(order.order(at: start, isUrgent: false) == [0])
        #expect(order.watched(beside: nil, after: 7) == 0)
        #expect(order.watched(beside: 0, after: 0) == 0)
    }
}
