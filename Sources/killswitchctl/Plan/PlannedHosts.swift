import ArgumentParser
import CivilTime
import Decision
import Fleet
import JSON

/// The hosts on which a rollout is shown.
struct HostsOptions: ParsableArguments {
    @Option(help: "How many hosts there are.") var hosts: Int?

    @Option(
        help: ArgumentHelp(
            """
            The hosts: a file, a name a line with its part of the slots, if any, as 'till-1 50%-100%'; '#' begins \
            a comment. Of a host in a large part the first and the last time are shown; where hosts are named by \
            their id, the time is exact.
            """, valueName: "file"),
        completion: .file()) var inventory: String?

    var isWanted: Bool { hosts != nil || inventory != nil }

    func validate() throws {
        guard hosts == nil || inventory == nil else {
            throw ValidationError("give --hosts or --inventory, not both")
        }
        guard (1...1_000_000_000).contains(hosts ?? 1) else {
            throw ValidationError("--hosts is a whole number from 1 to 1000000000")
        }
    }
}

/// How many hosts a rollout closes, and when.
struct PlannedHosts {
    let service: ServiceName
    private let zone: Zone
    private let count: Int
    private let steps: [(step: Rollout.Step, hosts: Int)]
    /// The hosts of the inventory, the first to close first; nil without one.
    private let listed: [ListedHost]?

    /// Nil if no hosts are asked for, or the service has no order with a rollout.
    init?(_ plan: PlannedService, of subject: PlanSubject, _ options: HostsOptions) throws {
        guard options.isWanted else { return nil }
        guard let (rollout, source) = subject.rollout(of: plan.service) else { return nil }
        (service, zone) = (plan.service.name, plan.service.zone)
        // The source of a bare document is not the one that brings it.
        let names = subject.settings == nil ? nil : "\(service)/\(source)"
        let inventory = try options.inventory.map(Inventory.read)
        let hosts = inventory?.names.sorted().map { name in
            ListedHost(
                name, in: inventory?.part(of: name) ?? .all, by: rollout, rollout.seed ?? names)
        }
        listed = hosts?.sorted { ($0.first, $0.last, $0.name) < ($1.first, $1.last, $1.name) }
        count = options.hosts ?? hosts?.count ?? 0
        steps = rollout.steps.map { step in
            let closed =
                options.hosts.map { Rollout.hosts(step.reach, of: $0) }
                ?? Int((hosts ?? []).reduce(0) { $0 + $1.share(within: step.reach) }.rounded())
            return (step, closed)
        }
    }

    var lines: [String] {
        let counts = steps.map { step, hosts in
            "\(zone.rfc3339(step.at))  \(Rollout.share(step.reach))  about \(hosts) of \(count) hosts"
        }
        guard let listed else { return counts }
        let rows = listed.map { [$0.name, $0.part.text, $0.words(in: zone)] }
        return counts + [""] + Columns(rows: [["HOST", "SLOTS", "CLOSES"]] + rows).lines()
    }

    var json: JSON.Object {
        var object: JSON.Object = [
            "service": .string(service.text), "hosts": .number(Number(Int64(count))),
            "steps": .objects(
                steps.map { step, hosts in
                    [
                        "at": .string(zone.rfc3339(step.at)),
                        "percent": .number(
                            Number(Double(step.reach) / Double(Slot.count / 100)) ?? 0),
                        "hosts": .number(Number(Int64(hosts))),
                    ]
                }),
        ]
        if let listed { object["inventory"] = .objects(listed.map { $0.json(in: zone) }) }
        return object
    }
}

/// A host of an inventory, and when an order reaches it.
private struct ListedHost {
    let name: String
    let part: SlotRange
    /// Nil if only its part is known.
    let slot: Slot?
    /// When it closes at the earliest, and at the latest; without a time it may never close.
    let first, last: Instant

    /// A host of this part, or of the slot that its id and the seed give.
    init(_ name: String, in part: SlotRange, by rollout: Rollout, _ seed: String?) {
        (self.name, self.part) = (name, part)
        // Only the id of a machine is what its slots follow from: see `HostIdentity`.
        let isID = name.utf8.count == 32 && name.allSatisfy(\.isHexDigit)
        slot = isID ? seed.map { HostPlace.named(name, within: part).slot(seed: $0) } : nil
        let arrivals = slot.map { (rollout.arrival(at: $0), rollout.arrival(at: $0)) }
        let (first, last) = arrivals ?? rollout.arrivals(in: part)
        (self.first, self.last) = (first ?? Self.never, last ?? Self.never)
    }

    private static let never = Instant(microseconds: .max)

    /// How much of it a step closes: 0 or 1 if its slot is known.
    func share(within reach: Int) -> Double {
        slot.map { $0.number < reach ? 1 : 0 } ?? part.share(within: reach)
    }

    func words(in zone: Zone) -> String {
        if first == Self.never { return "never" }
        let begin = zone.rfc3339(first)
        if last == Self.never { return "from \(begin) on, or never" }
        return first == last ? begin : "between \(begin) and \(zone.rfc3339(last))"
    }

    func json(in zone: Zone) -> JSON.Object {
        let time = { (time: Instant) in time == Self.never ? nil : zone.rfc3339(time) }
        return [
            "name": .string(name), "slots": .string(part.text),
            "slot": .optional(slot.map { Int64($0.number) }), "first": .optional(time(first)),
            "last": .optional(time(last)),
        ]
    }
}
