import CivilTime
import Decision

/// Hosts that poll one origin by the daemon's schedule, in virtual time: all boot within one second, poll for an hour,
/// find the origin away for an hour, and poll for another hour.
///
/// An answer takes 20 ms. The origin counts the requests of each second.
struct Origin {
    private struct Host {
        var schedule = Schedule(interval: .seconds(60))
        var random: SeededRandom
        /// When it got the order that was published last; nil before.
        var orderedAt: Int?

        mutating func pollEnded(_ failure: Failure?) -> Duration {
            guard let failure else { return schedule.succeeded(using: &random) }
            return schedule.failed(failure, using: &random)
        }
    }

    private static let ticksPerSecond = 50
    private static let hour = 3600
    /// In seconds.
    private static let outage = hour..<2 * hour
    private static let end = 3 * hour
    /// An order in peace, and an order during the outage.
    private static let orders = [45 * 60, outage.lowerBound + 30 * 60]
    private static let down = Failure(.unreachable, "the origin is away")

    private var hosts: [Host]
    /// Which hosts poll in a tick.
    private var due: [[UInt32]]
    private var requests = [Int](repeating: 0, count: Origin.end)

    init(hosts count: Int) {
        hosts = (0..<count).map { Host(random: SeededRandom(seed: UInt64($0) &* 0x9E37 &+ 1)) }
        due = Array(repeating: [], count: Self.end * Self.ticksPerSecond)
        for number in hosts.indices {
            let tick = Int.random(in: 0..<Self.ticksPerSecond, using: &hosts[number].random)
            due[tick].append(UInt32(number))
        }
    }

    mutating func run() {
        var order = 0
        var published: Int?
        var delays: [[Int]] = []
        for tick in due.indices {
            let second = tick / Self.ticksPerSecond
            if order < Self.orders.count, second == Self.orders[order] {
                if published != nil { delays.append(hosts.compactMap(\.orderedAt)) }
                published = tick
                for number in hosts.indices { hosts[number].orderedAt = nil }
                order += 1
            }
            for number in due[tick] {
                poll(Int(number), at: tick, order: published)
            }
            due[tick] = []
        }
        delays.append(hosts.compactMap(\.orderedAt))
        report(delays)
    }

    private mutating func poll(_ number: Int, at tick: Int, order published: Int?) {
        let second = tick / Self.ticksPerSecond
        requests[second] += 1
        let isAway = Self.outage.contains(second)
        let wait = hosts[number].pollEnded(isAway ? Self.down : nil)
        // The order takes effect with the answer.
        if !isAway, published != nil, hosts[number].orderedAt == nil {
            hosts[number].orderedAt = tick + 1
        }
        let next = tick + 1 + Int(wait.microseconds) * Self.ticksPerSecond / 1_000_000
        if next < due.count { due[next].append(UInt32(number)) }
    }

    private func report(_ delays: [[Int]]) {
        let steady = requests[Self.hour / 2..<Self.outage.lowerBound]
        let mean = Double(steady.reduce(0, +)) / Double(steady.count)
        func peak(_ seconds: Range<Int>) -> Double {
            Double(requests[seconds].max() ?? 0) / mean
        }
        FleetBenchmark.record("mean", mean)
        FleetBenchmark.record("steady", peak(Self.hour / 2..<Self.outage.lowerBound))
        // The first polls are those of the second in which all boot.
        FleetBenchmark.record("boot", peak(2..<Self.hour / 2))
        FleetBenchmark.record("away", peak(Self.outage.lowerBound + 1..<Self.outage.upperBound))
        FleetBenchmark.record("outage", peak(Self.outage.upperBound..<Self.end))
        let starts = [Self.orders[0], Self.outage.upperBound]
        for (name, (start, ticks)) in zip(["order", "order-after-outage"], zip(starts, delays)) {
            let sorted = ticks.sorted()
            func seconds(_ share: Double) -> Double {
                let index = min(Int(Double(hosts.count) * share), hosts.count - 1)
                guard index < sorted.count else { return .infinity }
                return Double(sorted[index]) / Double(Self.ticksPerSecond) - Double(start)
            }
            FleetBenchmark.record("\(name)-half", seconds(0.5))
            FleetBenchmark.record("\(name)-99", seconds(0.99))
            FleetBenchmark.record("\(name)-last", seconds(1))
        }
        for (second, count) in requests.enumerated() { print("SECOND \(second) \(count)") }
    }
}
