import CivilTime
import Decision
import Files
import Glibc
import Metrics
import Reports
import Storage
import VirtualWorld

/// The measurements. The script `run` has their limits.
enum Benchmark {
    static func run() throws -> Int32 {
        try manyServices()
        guard try year() else { return 1 }
        try metrics()
        try reports()
        return 0
    }

    /// A thousand services of three switches each, which one new answer decides again.
    private static func manyServices() throws {
        var host = try Host(services: 1000)
        let bodies = (0..<40).map { host.snapshot(number: $0) }
        var parsing: [Double] = []
        let answers = try bodies.map { body in
            let began = milliseconds()
            let flags = try FlagDocument.parse(body)
            parsing.append(milliseconds() - began)
            return Answer(body: body, flags: flags, fetchedAt: host.now.wall)
        }
        try host.start(with: answers[0])

        var changing: [Double] = []
        var idle: [Double] = []
        for answer in answers.dropFirst() {
            changing.append(host.decide(answer, expecting: 1000))
            // The same flags in other bytes: they are read again, and no verdict changes.
            var same = answer
            same.body.append(UInt8(ascii: "\n"))
            idle.append(host.decide(same, expecting: 0))
        }
        print("1,000 services of 3 switches, one answer of \(bodies[0].count / 1024) KiB:")
        report("parsing it, which every answer costs", parsing)
        report("deciding all, no verdict changes", idle)
        report("deciding all, every verdict changes", changing)
        print("    ratio of deciding to parsing: \(ratio(changing, parsing))")
    }

    /// The metrics of ten thousand services, as every 30 s.
    private static func metrics() throws {
        var host = try Host(services: 10_000)
        let body = host.snapshot(number: 1)
        try host.start(
            with: Answer(
                body: body, flags: try FlagDocument.parse(body), fetchedAt: host.now.wall))
        let file = "/dev/shm/killswitchd-benchmark-\(getpid()).prom"
        defer { do { try File.remove(file) } catch {} }
        var times: [Double] = []
        var bytes = 0
        for _ in 0..<20 {
            let began = milliseconds()
            let written = MetricsText.bytes(of: host.overview, nil, version: "1")
            try File.replace(file, with: written)
            times.append(milliseconds() - began)
            bytes = written.count
        }
        print("10,000 services, metrics of \(bytes / 1024) KiB:")
        report("writing them", times)
    }

    /// A report of ten thousand services.
    private static func reports() throws {
        var host = try Host(services: 10_000)
        let body = host.snapshot(number: 1)
        try host.start(
            with: Answer(
                body: body, flags: try FlagDocument.parse(body), fetchedAt: host.now.wall))
        var (checks, whole): ([Double], [Double]) = ([], [])
        var bytes = 0
        for number in Int64(1)...20 {
            let began = milliseconds()
            precondition(host.overview.isSettled(nil))
            checks.append(milliseconds() - began)
            let report = HostDocument(
                HostDocument.Facts(name: nil, machineID: nil, bootID: "boot", version: "1"),
                host.overview, nil)
            bytes = report.bytes(generation: number, at: host.now.wall).count
            whole.append(milliseconds() - began)
        }
        print("10,000 services, a report of \(bytes / 1024) KiB:")
        report("seeing that all is settled", checks)
        report("all of it", whole)
    }

    /// A year with two sources polled each minute and random failures. Returns whether it has kept all rules.
    private static func year() throws -> Bool {
        let start = Instant(seconds: 1_798_761_600)
        let length = Duration.seconds(365 * 86_400)
        let zone = try ZoneFiles.content(named: "Europe/Berlin").zone
        var times: [Double] = []
        var polls = 0
        for seed in UInt64(1)...5 {
            var world = try World(seed: seed, from: start, for: length, zone: zone)
            let began = milliseconds()
            world.run(until: start + length)
            times.append(milliseconds() - began)
            let chronicle = world.chronicle
            polls = chronicle.polls
            guard chronicle.violations.isEmpty else {
                print("seed \(seed), \(Weather()):")
                for violation in chronicle.violations { print("    \(violation)") }
                return false
            }
        }
        print("a year in virtual time, \(polls) polls, every end and window met to the second:")
        report("the year, and the world around it", times)
        return true
    }

    private static func report(_ what: String, _ times: [Double]) {
        let longest = rounded(times.max() ?? 0)
        print("    \(what): median \(rounded(median(times))) ms, worst \(longest) ms")
    }

    private static func ratio(_ left: [Double], _ right: [Double]) -> String {
        rounded(median(left) / median(right))
    }

    private static func median(_ times: [Double]) -> Double {
        let sorted = times.sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }

    private static func rounded(_ value: Double) -> String {
        "\((value * 100).rounded() / 100)"
    }
}

/// The processor time of this process, which other programs on the host do not lengthen.
func milliseconds() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
}
