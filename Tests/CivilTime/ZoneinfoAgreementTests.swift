import CivilTime
import Support
import Testing

/// Every zone of the system, compared with Python's zoneinfo, which reads the same files.
@Suite struct ZoneinfoAgreementTests {
    @Test(.timeLimit(.minutes(5)))
    func everyZoneAgreesWithPython() throws {
        let folder = #filePath.split(separator: "/").dropLast().joined(separator: "/")
        let table = try Program.run(
            "/usr/bin/python3", ["/\(folder)/Support/zoneinfo-table.py", systemZones])
        try #require(table.status == 0, "\(table.errors)")
        var comparison = Comparison()
        for line in table.output.split(separator: "\n") { try comparison.check(line: line) }
        #expect(comparison.zones > 300)
        #expect(comparison.rows == comparison.zones * 200)
        #expect(comparison.differences.isEmpty)
    }
}

/// Compares the zones with the table of zoneinfo-table.py line by line, and collects the differences.
private struct Comparison {
    private(set) var zones = 0
    private(set) var rows = 0
    private(set) var differences: [String] = []
    private var zone = Zone.utc

    mutating func check(line: Substring) throws {
        let words = line.split(separator: " ")
        if words.first == "zone", words.count == 2 {
            zone = try .system(String(words[1]))
            zones += 1
            return
        }
        let numbers = words.compactMap { Int64($0) }
        guard numbers.count == 5, words.count == 5 else {
            throw TestFailure("read the table of zones: a line is '\(line)'")
        }
        rows += 1
        let (instant, other) = (Instant(seconds: numbers[0]), Instant(seconds: numbers[3]))
        let ours = [
            Int64(zone.offset(at: instant).seconds),
            zone.startOfNextDay(after: instant).seconds,
            Int64(zone.calendarDays(from: instant, to: other)),
        ]
        if ours != [numbers[1], numbers[2], numbers[4]], differences.count < 20 {
            differences.append("\(zone.name): ours \(ours), Python's \(line)")
        }
    }
}
