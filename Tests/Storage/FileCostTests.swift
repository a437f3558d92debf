import CivilTime
import Decision
import Glibc
import JSON
import Storage
import Support
import Testing

/// What files cost that hundreds of services write after one answer: as a ratio, because hosts differ.
@Suite struct FileCostTests {
    /// The least of several times of this thread's processor, in nanoseconds.
    private static func cost(_ work: () throws -> Void) rethrows -> Int {
        let clock = {
            var time = timespec()
            unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return time.tv_sec * 1_000_000_000 + time.tv_nsec
        }
        return try (0..<5).map { _ in
            let start = clock()
            try work()
            return clock() - start
        }.min() ?? 0
    }

    /// 300 services with three values of backslashes wrote `state.env` for 2.3 s.
    @Test(arguments: ["\\", "é"])
    func aTextWithEscapesCostsLittleMoreThanAnother(_ letter: String) throws {
        let cost = { (letter: String) in
            var verdict = try verdict(.running, .open)
            verdict.values = ["v": .string(String(repeating: letter, count: 15_000))]
            let (record, service) = (try record(verdict), try service())
            return Self.cost { _ = EnvironmentFile.text(of: record, for: service) }
        }
        let (escaped, plain) = (try cost(letter), try cost("x"))
        #expect(escaped < 10 * plain, "\(escaped) ns, and \(plain) ns")
    }

    /// 300 services with the same 64 windows had them written 300 times, for 60 ms.
    @Test func announcementsThatServicesHaveInCommonAreWrittenOnce() throws {
        let folder = try TemporaryFolder()
        let directory = StateDirectory(path: folder.path)
        try directory.prepare()
        let cost = { (step: Int) in
            var entries: [ServiceName: Ledger.Entry] = [:]
            for number in 0..<300 {
                let start = Instant(seconds: 1_804_000_000 + Int64(number * step))
                var entry = Ledger.Entry(
                    state: .running, since: start, generation: 1, bootID: "b")
                entry.announced = [:]
                for window in 0..<64 {
                    let from = start + .seconds(7200 * window)
                    entry.announced?[Announcement(from: from, until: from + .seconds(60))] = start
                }
                entries[try named("s\(number)")] = entry
            }
            let ledger = Ledger(entries: entries)
            return try Self.cost { try directory.store(ledger) }
        }
        let (alike, different) = (try cost(0), try cost(1))
        #expect(4 * alike < different, "\(alike) ns, and \(different) ns")
    }
}
