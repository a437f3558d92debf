import Decision
import Testing

/// Which of two versions is older, by the rule of killswitch-flags(7).
@Suite struct VersionTests {
    /// Each row is from old to new. `=` stands between equal versions.
    @Test(arguments: [
        // Semantic Versioning 2.0.0 §11.
        "1.0.0 < 2.0.0 < 2.1.0 < 2.1.1",
        "1.0.0-alpha < 1.0.0-alpha.1 < 1.0.0-alpha.beta < 1.0.0-beta < 1.0.0-beta.2 "
            + "< 1.0.0-beta.11 < 1.0.0-rc.1 < 1.0.0",
        "1.9.0 < 1.10.0 < 1.11.0",
        "1.0.0+20130313144700 = 1.0.0+1 = 1.0.0",
        "1.0.0-1 < 1.0.0-a < 1.0.0-b",
        "1.0.0-A < 1.0.0-a",
        // If both are semantic, a suffix that looks like a Debian revision is a pre-release.
        "1.0.0-1 < 1.0.0", "1.0 < 1.0.0-1 < 1.0.0-2 < 1.0.0",
        "1.0.0--1 < 1.0.0",
        "1.0.99999999999999999999 < 1.0.100000000000000000000",
        "v1.9.0 < 2.0.0 < V2.0.1",
        // Debian's order (deb-version(7)).
        "1.0~~ < 1.0~~a < 1.0~ < 1.0 < 1.0a < 1.0+1",
        "1 < 1.0 < 1.0.0.1",
        "1.0~rc1 < 1.0 < 1.0-1 < 1.0-1+b1 < 1.0-2 < 1:0.9",
        "2 < 10", "1.2 < 1.10", "1.002 = 1.2", "1.0-0 = 1.0",
        "0:1.0 = 1.0", "20260101 < 20270101", "r9 < r10", "v9 < v10",
        // A semantic version and one that is not.
        "1.0.0 < 1.0.0.1", "1.2 < 1.2.0", "01.2.3 = 1.2.3", "1.0.0-rc.01 < 1.0.0-rc.2",
        // Neither is semantic.
        "a < b", "main = main",
    ])
    func versionsAreOrderedByTheRuleOfTheirForm(_ row: String) throws {
        let words = row.split(separator: " ").map(String.init)
        for index in stride(from: 0, to: words.count - 2, by: 2) {
            let left = try #require(Version(words[index]))
            let right = try #require(Version(words[index + 2]))
            #expect(left.isOlder(than: right) == (words[index + 1] == "<"), "\(left) \(right)")
            #expect(!right.isOlder(than: left), "\(right) \(left)")
        }
    }

    @Test func theFirstLineIsTheVersion() {
        #expect(Version(" 2.4.1 \r\nbuilt today\n")?.text == "2.4.1")
        #expect(Version("\n\n 3 ")?.text == "3")
        #expect(Version(" \n ") == nil)
        #expect(Version("") == nil)
    }
}
