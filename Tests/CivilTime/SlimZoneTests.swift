import CivilTime
import Testing

/// The two forms that `zic` compiles: `fat` lists transitions up to 2037, `slim` uses the footer wherever
/// it can.
@Suite struct SlimZoneTests {
    /// Not Asia/Gaza: the slim file of glibc 2.36's `zic` lacks its autumn changes from 2074 on.
    static let names = [
        "Africa/Casablanca", "Africa/Monrovia", "America/Nuuk", "America/Santiago",
        "America/St_Johns", "Asia/Beirut", "Asia/Tokyo", "Australia/Lord_Howe", "Europe/Berlin",
        "Europe/Dublin", "Pacific/Apia", "Pacific/Chatham",
    ]

    @Test(.timeLimit(.minutes(5)))
    func slimAndFatFilesAreTheSameZone() throws {
        let source = "\(systemZones)/tzdata.zi"
        let zic = try #require(
            ["/usr/sbin/zic", "/usr/bin/zic"].first(where: isExecutable),
            "zic is missing: install the package libc-bin (or tzdata-devel)")
        _ = try #require(try? contents(of: source), "\(source) is missing: install tzdata")
        try withTemporaryFolder { folder in
            for form in ["slim", "fat"] {
                try forEachLine(of: [zic, "-b", form, "-d", "\(folder)/\(form)", source]) { _ in }
            }
            for name in Self.names {
                let sizes = try ["slim", "fat"].map {
                    try contents(of: "\(folder)/\($0)/\(name)").count
                }
                #expect(sizes[0] < sizes[1])
                let slim = try Zone.system(name, folder: "\(folder)/slim")
                let fat = try Zone.system(name, folder: "\(folder)/fat")
                expectSameAnswers(slim, fat)
            }
        }
    }

    private func expectSameAnswers(_ slim: Zone, _ fat: Zone) {
        var dice = Dice(state: 42)
        var differences: [Instant] = []
        for _ in 0..<1_000 {
            // From 1902, before which a fat file repeats what it says for 1901, to 2400.
            let instant = Instant(
                seconds: .random(in: -2_145_916_800...13_569_465_600, using: &dice))
            let midnight = fat.startOfNextDay(after: instant)
            if slim.offset(at: instant) != fat.offset(at: instant)
                || slim.startOfNextDay(after: instant) != midnight
                || slim.calendarDays(from: instant, to: midnight)
                    != fat.calendarDays(from: instant, to: midnight)
            {
                differences.append(instant)
            }
        }
        #expect(differences.isEmpty, "\(slim.name)")
    }
}
