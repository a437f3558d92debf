import CivilTime
import Decision
import Files
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
            entries[try named("s\(number)")] = Ledger.Entry(
                state: isChanged ? .ended : .running, since: since,
                generation: isChanged ? 2 : 1, bootID: "b-1")
        }
        return Ledger(entries: entries)
    }

    /// A change of one of 10,000 services used to write the entries of all of them.
    @Test func aChangeOfALargeLedgerWritesWhatHasChanged() throws {
        try directory.store(try ledger(1000))
        let before = try File.read(folder("services.json"), limit: 1 << 20)
        let changed = try ledger(1000, changed: [7])
        try directory.store(changed, changed: [try named("s7")])
        #expect(try File.read(folder("services.json"), limit: 1 << 20) == before)
        #expect(try File.read(folder("services.log"), limit: 1 << 20).count < 200)
        #expect(try directory.ledger() == changed)
        let more = try ledger(1000, changed: [7, 8])
        try directory.store(more, changed: [try named("s8")])
        #expect(try directory.ledger() == more)
        #expect(try File.read(folder("services.json"), limit: 1 << 20) == before)
    }

    @Test func theLogNeverGrowsLargerThanTheLedger() throws {
        try directory.store(try ledger(100))
        let whole = try File.attributes(of: folder("services.json")).size
        var lengths: Set<Int> = []
        for number in 0..<200 {
            let changed = try ledger(100, changed: [number % 100])
            try directory.store(
                changed,
                changed: [try named("s\(number % 100)"), try named("s\((number + 99) % 100)")])
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
        try directory.store(changed, changed: Set(try (0..<40).map { try named("s\($0)") }))
        #expect(try File.read(folder("services.json"), limit: 1 << 20) == before)
        #expect(try directory.ledger() == changed)
    }

    @Test func aLedgerThatChangesAsAWholeIsWrittenAsAWhole() throws {
        try directory.store(try ledger(1000))
        try directory.store(try ledger(1000, changed: [7]), changed: [try named("s7")])
        let all = try ledger(1000, changed: Set(0..<1000))
        try directory.store(all, changed: Set(all.entries.keys))
        #expect(try !File.exists(folder("services.log")))
        #expect(try directory.ledger() == all)
    }

    /// What a crash leaves: a line that was cut off, a log alone.
    @Test func aLogAfterACrashIsReadAsFarAsItIsWhole() throws {
        try directory.store(try ledger(1000))
        let changed = try ledger(1000, changed: [7])
        try directory.store(changed, changed: [try named("s7")])
        let log = try File.read(folder("services.log"), limit: 1 << 20)
        try File.replace(folder("services.log"), with: Array(log.dropLast(3)))
        #expect(try directory.ledger() == ledger(1000))
        let next = try ledger(1000, changed: [8])
        try directory.store(next, changed: [try named("s8")])
        #expect(try directory.ledger() == next)
        try File.remove(folder("services.json"))
        #expect(try directory.ledger() == nil)
    }
}
