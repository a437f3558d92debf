import CivilTime
import Decision

/// What root's mover is to bring about, and what it is to do once more.
extension GateState {
    /// The orders as they should be written: the targets as decided, each a level, and what has a number. While the
    /// gate drains its targets are left as they are.
    private var wantedOrders: TargetOrders {
        let isNotice = { (target: GateTarget) in !target.isOfDecision }
        let numbered = numbers.sorted { $0.key < $1.key }.map { TargetOrders.Line($0, number: $1) }
        guard let desired, drain == nil else {
            return TargetOrders(numbered.filter { isNotice($0.job.target) })
        }
        let wanted = desired.targets(of: service)
        let others = targets.mayBeUp.filter { !wanted.contains($0) }
        let levels = others.map(TargetJob.stop) + wanted.map(TargetJob.start)
        return TargetOrders(
            levels.map { TargetOrders.Line($0) }
                + numbered.filter { isNotice($0.job.target) || levels.contains($0.job) })
    }

    /// The orders if they have to be written; nil if the file has them, or nothing is decided.
    mutating func changedOrders(at now: Boottime) -> TargetOrders? {
        guard desired != nil || drain != nil, ordersRetryAt.map({ $0 <= now }) ?? true else {
            return nil
        }
        ordersRetryAt = nil
        let wanted = wantedOrders
        guard wanted != orders else { return nil }
        if files.problem != nil { files.ordersRetried(at: now) }
        orders = wanted
        return wanted
    }

    mutating func ordersDeleted() { (orders, ordersRetryAt) = (nil, nil) }

    /// Numbers a new closing, a new opening, and one that starts units behind an open target: each is carried out also
    /// if the targets stand as decided when the mover looks, because another came and went meanwhile.
    mutating func numberMove(at now: Boottime) {
        guard let desired else { return }
        numbers = numbers.filter { !$0.key.target.isOfDecision }
        let number = UInt64(now.microseconds)
        let kind: GateTarget.Kind = desired.gate == .open ? .open : .closed
        numbers[.start(GateTarget(service: service, kind: kind))] = number
        // A target that is down already stops nothing by a conflict: a unit may run beside it.
        if desired.gate == .closed {
            numbers[.stop(GateTarget(service: service, kind: .open))] = number
        }
    }

    /// Starts the target of a state that is active once more, because a unit of it is not.
    mutating func startAgain(_ target: GateTarget, at now: Boottime, _ batch: inout GateBatch) {
        numbers[.start(target)] = UInt64(now.microseconds)
        enqueue(.start(target), &batch)
        batch.recheck(service)
    }

    /// Stops a target that is down once more: a unit of it runs behind the closed gate, and stops with it.
    mutating func stopAgain(_ target: GateTarget, at now: Boottime, _ batch: inout GateBatch) {
        numbers[.stop(target)] = UInt64(now.microseconds)
        enqueue(.stop(target), &batch)
        batch.recheck(service)
    }
}
