import CivilTime
import FlagSources
import Testing

/// The order in which the members of an etcd cluster are tried.
@Suite struct MemberRankingTests {
    private let start = Boottime(microseconds: 1_000_000_000)
    private var later: Boottime { start + MemberRanking.avoidance }

    private func order(hanging: Set<Int> = []) -> MemberRanking {
        var order = MemberRanking(of: 4, preferred: 2)
        order.membersHung(hanging, at: start)
        return order
    }

    @Test func aFetchBeginsWithTheMemberThatAnsweredLast() {
        var order = order()
        #expect(order.ranked(at: start, isUrgent: false) == [2, 3, 0, 1])
        order.memberAnswered(1)
        #expect(order.ranked(at: start, isUrgent: true) == [1, 2, 3, 0])
        #expect(order.hanging.isEmpty)
    }

    @Test func aMemberThatHangsIsTriedLastForAWhile() {
        let order = order(hanging: [2, 3])
        #expect(order.ranked(at: start, isUrgent: false) == [0, 1, 2, 3])
        #expect(order.hanging == [2, 3])
        // Then a poll finds out whether one is back, and a fetch for a hint does not wait for that.
        #expect(order.ranked(at: later, isUrgent: false) == [2, 0, 1, 3])
        #expect(order.ranked(at: later, isUrgent: true) == [0, 1, 2, 3])
    }

    @Test func aMemberThatAnswersAgainHangsNoLonger() {
        var order = order(hanging: [0, 1, 2, 3])
        #expect(order.ranked(at: start, isUrgent: true) == [2, 3, 0, 1])
        order.memberAnswered(3)
        #expect(order.hanging == [0, 1, 2])
        #expect(order.ranked(at: later, isUrgent: false) == [0, 3, 1, 2])
    }

    @Test(
        arguments: [
            ([], nil, 0, 2), ([], nil, 1, 3), ([], 2, 0, 3), ([], 2, 3, 3), ([2], nil, 0, 3),
            ([2, 3, 0], 1, 0, 2), ([2, 3, 0], 1, 1, 3), ([0, 1, 2, 3], 2, 0, 3),
        ] as [(Set<Int>, Int?, Int, Int)])
    func aWatchGoesToAHealthyMemberBesideTheOther(
        _ hanging: Set<Int>, _ other: Int?, _ failures: Int, _ member: Int
    ) {
        #expect(order(hanging: hanging).memberToWatch(beside: other, after: failures) == member)
    }

    @Test func theOnlyMemberIsAlwaysTried() {
        var order = MemberRanking(of: 1, preferred: 0)
        order.membersHung([0], at: start)
        #expect(order.ranked(at: start, isUrgent: false) == [0])
        #expect(order.memberToWatch(beside: nil, after: 7) == 0)
        #expect(order.memberToWatch(beside: 0, after: 0) == 0)
    }
}
