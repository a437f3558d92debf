import CivilTime
import Decision
import Files
import Glibc
import JSON
import Storage
import Support
import Testing

/// The ledger of many services: a log of what has changed beside it.
@Suite struct LargeLedgerTests {
    let folder: TemporaryFolder
    let directory: StateDirectory

    init() throws {
        folder = try TemporaryFolder()
        directory = StateDirectory(path: folder.path)
        try directory.prepare()
    }

    /// A ledger of so many services, and the same after a change of these.
    private func ledger(_ count: Int, changed: Set<Int> = []) throws -> Ledger {
        let since = try Instant(rfc3339: "2027-03-01T12:00:00Z")
        var entries: [ServiceName: Ledger.Entry] = [:]
        for number in 0..<count {
            let isChanged = changed.contains(number)
            entries["s\(number)"] = Ledger.Entry(
                state: isChanged ? .ended : .running, since: since, generation: isChanged ? 2 : 1,
                bootID: "b-1")
        }
        return Ledger(entries: entries)
    }

    /// A change of one of 10,000 services used to write the entries of all of them.
    @Test func aChangeOfALargeLedgerWritesWhatHasChanged() throws {
        try directory.store(try ledger(1000))
        let before = try File.read(folder("services.json"), limit: 1 << 20)
        let changed = try ledger(1000, changed: [7])
        try directory.store(changed, changed: ["s7"])
        #expect(try File.read(folder("services.json"), limit: 1 << 20) == before)
        #expect(try File.read(folder("services.log"), limit: 1 << 20).count < 200)
        #expect(try directory.ledger().get() == changed)
        let more = try ledger(1000, changed: [7, 8])
        try directory.store(more, changed: ["s8"])
        #expect(try directory.ledger().get() == more)
        #expect(try File.read(folder("services.json"), limit: 1 << 20) == before)
    }

    @Test func theLogNeverGrowsLargerThanTheLedger() throws {
        try directory.store(try ledger(100))
        let whole = try File.attributes(of: folder("services.json")).size
        var lengths: Set<Int> = []
        for number in 0..<200 {
            let changed = try ledger(100, changed: [number % 100])
            try directory.store(changed, changed: ["s\(number % 100)", "s\((number + 99) % 100)"])
            let isThere = try File.exists(folder("services.log"))
            lengths.insert(isThere ? try File.attributes(of: folder("services.log")).size : 0)
        }
        #expect(lengths.contains(0))
        #expect(try #require(lengths.max()) < whole + 1000)
    }

    /// An answer changes services in shares of the loop. Each share wrote the entries of all services.
    @Test func aShareOfTheChangesIsAppended() throws {
        try directory.store(try ledger(100))
        let before = try File.read(folder("services.json"), limit: 1 << 20)
        let changed = try ledger(100, changed: Set(0..<40))
        try directory.store(changed, changed: Set((0..<40).map { "s\($0)" }))
        #expect(try File.read(folder("services.json"), limit: 1 << 20) == before)
        #expect(try directory.ledger().get() == changed)
    }

    @Test func aLedgerThatChangesAsAWholeIsWrittenAsAWhole() throws {
        try directory.store(try ledger(1000))
        try directory.store(try ledger(1000, changed: [7]), changed: ["s7"])
        let all = try ledger(1000, changed: Set(0..<1000))
        try directory.store(all, changed: Set(all.entries.keys))
        #expect(try !File.exists(folder("services.log")))
        #expect(try directory.ledger().get() == all)
    }

    /// What a crash leaves: a line that was cut off, a log alone.
    @Test func aLogAfterACrashIsReadAsFarAsItIsWhole() throws {
        try directory.store(try ledger(1000))
        let changed = try ledger(1000, changed: [7])
        try directory.store(changed, changed: ["s7"])
        let log = try File.read(folder("services.log"), limit: 1 << 20)
        try File.replace(folder("services.log"), with: Array(log.dropLast(3)))
        #expect(try directory.ledger().get() == ledger(1000))
        let next = try ledger(1000, changed: [8])
        try directory.store(next, changed: ["s8"])
        #expect(try directory.ledger().get() == next)
        try File.remove(folder("services.json"))
        #expect(try directory.ledger().get() == nil)
    }
}

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
                var entry = Ledger.Entry(state: .running, since: start, generation: 1, bootID: "b")
                entry.announced = [:]
                for window in 0..<64 {
                    let from = start + .seconds(7200 * window)
                    entry.announced?[Announcement(from: from, until: from + .seconds(60))] = start
                }
                entries["s\(number)"] = entry
            }
            let ledger = Ledger(entries: entries)
            return try Self.cost { try directory.store(ledger) }
        }
        let (alike, different) = (try cost(0), try cost(1))
        #expect(4 * alike < different, "\(alike) ns, and \(different) ns")
    }
}
