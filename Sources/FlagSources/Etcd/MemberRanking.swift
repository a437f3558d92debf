package import CivilTime

/// The order in which the members of a cluster are tried. A member that hangs is tried last for a while.
///
/// A member is a position among the endpoints. A dead member needs no memory: its connections fail at
/// once.
package struct MemberRanking: Hashable, Sendable {
    /// How long a member may be silent before another one is tried too.
    package static let hedgeDelay = Duration.seconds(1)
    /// How long a member that hangs is tried last.
    package static let avoidance = Duration.seconds(60)

    private let count: Int
    /// The member that answered last.
    private var preferred: Int
    /// The members that did not answer, and until when they are tried last.
    private var hung: [Int: Boottime] = [:]

    /// The order of so many members; `preferred` is tried first.
    package init(of count: Int, preferred: Int) {
        self.count = count
        self.preferred = preferred
    }

    /// The members that hang, as far as it is known.
    package var hanging: [Int] { hung.keys.sorted() }

    /// The order for a fetch that begins now. A hung member whose time is over comes first, to find out
    /// whether it is back, but not if the fetch is urgent.
    package func ranked(at now: Boottime, isUrgent: Bool) -> [Int] {
        let back = isUrgent ? nil : ring.first { hung[$0].map { $0 <= now } ?? false }
        let others = ring.filter { $0 != back }
        return (back.map { [$0] } ?? []) + others.filter { hung[$0] == nil }
            + others.filter { hung[$0] != nil }
    }

    /// The member for a watch after this many failures in a row: if possible neither the member of the other
    /// watch nor a member that hangs.
    package func memberToWatch(beside other: Int?, after failures: Int) -> Int {
        let free = ring.filter { $0 != other }
        let healthy = free.filter { hung[$0] == nil }
        let candidates = healthy.isEmpty ? (free.isEmpty ? ring : free) : healthy
        return candidates[failures % candidates.count]
    }

    /// A member answers: it is tried first from now on.
    package mutating func memberAnswered(_ member: Int) {
        preferred = member
        hung[member] = nil
    }

    /// Members do not answer although others do.
    package mutating func membersHung(_ members: Set<Int>, at now: Boottime) {
        for member in members { hung[member] = now + Self.avoidance }
    }

    private var ring: [Int] { (0..<count).map { (preferred + $0) % count } }
}
