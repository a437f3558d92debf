package import CivilTime
import JSON

/// The steps by which an order closes more and more hosts: from each step's time on it holds on that share of them.
/// The shares never fall, so that a host that took part stays in it. Before the first step it closes no host.
package struct Rollout: Hashable, Sendable {
    /// From `at` on, the order closes the hosts whose slot is below `reach`.
    package struct Step: Hashable, Sendable {
        package let at: Instant
        /// How many of the slots: 1 % are 10,000.
        package let reach: Int

        /// A step that reaches this many slots.
        package init(at: Instant, reach: Int) {
            self.at = at
            self.reach = reach
        }
    }

    /// 1 to 64 of them, each later than the one before.
    package let steps: [Step]
    /// What the slots of this order depend on; nil is the service and the source.
    package let seed: String?

    /// A rollout by these steps, in their order.
    package init(steps: [Step], seed: String? = nil) {
        self.steps = steps
        self.seed = seed
    }

    /// How many of the slots it has reached at `time`.
    package func reach(at time: Instant) -> Int { steps.last { $0.at <= time }?.reach ?? 0 }

    /// When it reaches a slot; nil if none of its steps does.
    package func arrival(at slot: Slot) -> Instant? { steps.first { slot.number < $0.reach }?.at }

    /// When it reaches the first host of a part, and the last; nil if no step does.
    package func arrivals(in part: SlotRange) -> (first: Instant?, last: Instant?) {
        (steps.first { part.lower < $0.reach }?.at, steps.first { part.upper <= $0.reach }?.at)
    }

    /// The slot of a host in the order that a service reads from a source.
    package func slot(of place: HostPlace, service: ServiceName, source: SourceName) -> Slot {
        place.slot(seed: seed ?? "\(service)/\(source)")
    }

    /// What a host needs to know that the order has not reached.
    package struct Wait: Hashable, Sendable {
        /// How many of the slots the order has reached.
        package let reach: Int
        package let slot: Slot
        /// When it reaches this host; nil if no step does.
        package let arrival: Instant?
        /// Whether that time has come, and a guard holds the step.
        var isOver = false
    }

    /// The wait of a host with this slot at `time`; nil once the order holds there.
    func wait(of slot: Slot, at time: Instant) -> Wait? {
        let reach = reach(at: time)
        guard slot.number >= reach else { return nil }
        return Wait(reach: reach, slot: slot, arrival: arrival(at: slot))
    }

    /// The wait of a host with this slot just before its step, while a guard holds it; nil if no step reaches it.
    func waitBeforeStep(of slot: Slot) -> Wait? {
        guard let arrival = arrival(at: slot) else { return nil }
        let reach = steps.last { $0.at < arrival }?.reach ?? 0
        return Wait(reach: reach, slot: slot, arrival: arrival, isOver: true)
    }

    /// Reads the members `rollout` and `seed` of an order; nil without steps.
    init?(_ order: Members<SwitchObject.Key>) throws(InvalidFlag) {
        let seed = try order[.seed].optionalString()
        if let seed, seed.utf8.count > Self.longestSeed {
            throw .wrongType(
                key: "seed", expected: "at most \(Self.longestSeed) bytes",
                found: "a string of \(seed.utf8.count) bytes")
        }
        guard let elements = try order[.rollout].optionalArray() else { return nil }
        if elements.isEmpty {
            throw .wrongType(key: "rollout", expected: "a list of steps", found: "an empty array")
        }
        try FlagLimit.steps.check(elements.count, of: "rollout")
        var steps: [Step] = []
        for (index, element) in elements.enumerated() {
            steps.append(try Self.step(element, named: "rollout[\(index)]", after: steps.last))
        }
        (self.steps, self.seed) = (steps, seed)
    }

    private static func step(
        _ value: JSON.Value, named name: String, after before: Step?
    ) throws(InvalidFlag) -> Step {
        let object = try value.typed(\.object, "an object", of: name)
        let (at, percent) = (
            Flag("at", of: object, at: "\(name)."), Flag("percent", of: object, at: "\(name).")
        )
        let step = Step(at: try at.time(), reach: try reach(percent))
        guard let before else { return step }
        guard before.at < step.at else {
            throw .unreadable(key: at.key, cause: "must be later than in the step before")
        }
        guard before.reach <= step.reach else {
            throw .unreadable(
                key: percent.key,
                cause: "must not be lower than in the step before: a rollout does not reopen hosts")
        }
        return step
    }

    /// A percentage as a number of slots; it is rounded down to them.
    private static func reach(_ flag: Flag) throws(InvalidFlag) -> Int {
        let value = try flag.required()
        guard let percent = value.number?.double, (0...100).contains(percent) else {
            throw .wrongType(
                key: flag.key, expected: "a number from 0 to 100", found: value.numberOrTypeName)
        }
        // A little more, because many decimal fractions are a little less in binary.
        return Int(percent * Double(Slot.count / 100) + 1e-6)
    }

    private static let longestSeed = 256

    /// How many of some hosts a number of slots reaches, on average.
    package static func hosts(_ reach: Int, of hosts: Int) -> Int {
        (reach * hosts + Slot.count / 2) / Slot.count
    }

    /// A number of slots as a share of all, such as `12.5 %`.
    package static func share(_ reach: Int) -> String {
        let (whole, rest) = reach.quotientAndRemainder(dividingBy: Slot.count / 100)
        var digits = String(Slot.count / 100 + rest).dropFirst()
        while digits.last == "0" { digits.removeLast() }
        return "\(whole)\(digits.isEmpty ? "" : ".\(digits)") %"
    }
}
