import CivilTime
import Decision
import Files
import Support
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
            try ["/usr/sbin/zic", "/usr/bin/zic"].first { try File.exists($0) },
            "zic is missing: install the package libc-bin (or tzdata-devel)")
        let folder = try TemporaryFolder()
        for form in ["slim", "fat"] {
            let run = try Program.run(zic, ["-b", form, "-d", folder(form), source])
            try #require(run.status == 0, "\(run.errors): is tzdata installed?")
        }
        for name in Self.names {
            let sizes = try ["slim", "fat"].map {
                try File.attributes(of: folder("\($0)/\(name)")).size
            }
            #expect(sizes[0] < sizes[1])
            let slim = try Zone.system(name, folder: folder("slim"))
            let fat = try Zone.system(name, folder: folder("fat"))
            expectSameAnswers(slim, fat)
        }
    }

    private func expectSameAnswers(_ slim: Zone, _ fat: Zone) {
        var dice = SeededRandom(seed: 42)
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
