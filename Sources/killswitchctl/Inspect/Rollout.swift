import ArgumentParser
import CivilTime
import Configuration
import Decision
import Fleet
import JSON

/// `killswitchctl rollout FLAGS (--hosts N | --inventory FILE)`
struct RolloutCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollout",
        abstract: "Show how many hosts an order closes, and when. Nothing is changed.",
        discussion: """
            The flags are of the format 'switch'. Hosts fall into slots by chance, so that the numbers \
            are those of a large fleet: of a few hosts, some more or fewer may be closed.

            --inventory: the hosts by name, those in a part of their own ([host] slots) as \
            'till-1 50%-100%'. Shows for each host when it closes; of a host in a large part the \
            first and the last time. If hosts are named by their id, as in reports, and the order \
            has a seed, or --service and --source are given, the time is exact.

            Exits with 1 if the flags are no order, or have no rollout.

            example: killswitchctl rollout new.json --hosts 200
            """)

    @Argument(help: "The flags: a JSON file; '-' is standard input.", completion: .file())
    var flags: String

    @Option(help: "How many hosts there are.") var hosts: Int?

    @Option(
        help: "The hosts: a file, a name a line with its part, if any; '#' begins a comment.",
        completion: .file()) var inventory: String?

    @Option(
        help: "The service that reads the order.", completion: .services,
        transform: ServiceName.read) var service: ServiceName?

    @Option(help: "The source that brings it.", transform: SourceName.read) var source: SourceName?

    @Option(help: "The member of the flags that holds the order; without it the whole file.")
    var key: String?

    @Option(help: "The time zone in which times are shown; without it the system's.")
    var timeZone: String?

    @Flag(help: "Print JSON.") var json = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (hosts == nil) != (inventory == nil) else {
            throw ValidationError("give --hosts or --inventory")
        }
        guard (1...1_000_000_000).contains(hosts ?? 1) else {
            throw ValidationError("--hosts is a whole number from 1 to 1000000000")
        }
        if source != nil, service == nil || inventory == nil {
            throw ValidationError("--source needs --service and --inventory")
        }
    }

    func run() throws {
        try show()
        try flushOutput()
        DrillNotice.show(about: service.map { [$0] }, in: common)
    }

    private func show() throws {
        let zone = try SimulatedService.zone(timeZone)
        let inventory = try inventory.map(Inventory.read)
        let answer = try FlagFile(flags).answer(by: nil, fetchedAt: Instant(seconds: 0))
        let format = FormatWord.switchObject.format(key: key)
        let order: Reading
        do { order = try format.read(answer.flags, in: zone) } catch {
            throw CommandFailure("the flags are invalid: \(error)")
        }
        guard let rollout = order.rollout else {
            throw CommandFailure("the order has no rollout: it reaches every host at once")
        }
        let listed = inventory?.names.sorted().map { reach($0, of: inventory, by: rollout) } ?? []
        let count = hosts ?? listed.count
        var steps: [JSON.Object] = []
        for step in rollout.steps {
            let closed =
                hosts.map { Rollout.hosts(step.reach, of: $0) }
                ?? Int(listed.reduce(0) { $0 + $1.share(within: step.reach) }.rounded())
            let time = zone.rfc3339(step.at)
            let percent = Number(Double(step.reach) / Double(Slot.count / 100)) ?? 0
            steps.append([
                "at": .string(time), "percent": .number(percent),
                "hosts": .number(Number(Int64(closed))),
            ])
            if !json {
                printLine(
                    "\(time)  \(Rollout.share(step.reach))  about \(closed) of \(count) hosts")
            }
        }
        let sorted = listed.sorted { ($0.first, $0.last, $0.name) < ($1.first, $1.last, $1.name) }
        guard !json else {
            var object: JSON.Object = [
                "hosts": .number(Number(Int64(count))), "steps": .objects(steps),
            ]
            if inventory != nil { object["inventory"] = .objects(sorted.map { $0.json(in: zone) }) }
            return printJSON(.object(object))
        }
        guard inventory != nil else { return }
        printLine()
        let rows = sorted.map { [$0.name, $0.part.text, $0.words(in: zone)] }
        for line in Columns(rows: [["HOST", "SLOTS", "CLOSES"]] + rows).lines() { printLine(line) }
    }

    /// When the order reaches a host of the inventory.
    private func reach(_ name: String, of inventory: Inventory?, by rollout: Rollout) -> ListedHost
    {
        let part = inventory?.part(of: name) ?? .all
        var seed = rollout.seed
        if seed == nil, let service, let source { seed = "\(service)/\(source)" }
        // Only the id of a machine is what its slots follow from: see `HostIdentity`.
        let isID = name.utf8.count == 32 && name.allSatisfy(\.isHexDigit)
        let slot = isID ? seed.map { HostPlace.named(name, within: part).slot(seed: $0) } : nil
        let arrivals = slot.map { (rollout.arrival(at: $0), rollout.arrival(at: $0)) }
        let (first, last) = arrivals ?? rollout.arrivals(in: part)
        return ListedHost(name: name, part: part, slot: slot, first: first, last: last)
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

    init(name: String, part: SlotRange, slot: Slot?, first: Instant?, last: Instant?) {
        (self.name, self.part, self.slot) = (name, part, slot)
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
