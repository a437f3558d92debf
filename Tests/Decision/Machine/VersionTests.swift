import CivilTime
import Decision
import JSON
import Support
import Testing

/// The source's version in a record changes with flags that the service reads, and with no others.
@Suite struct SourceVersionTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let name: String
        var activation = Activation.immediate
        let before: FlagVersion
        let flags: String
        let after: FlagVersion
        /// The version in the record that is published; nil if none is.
        var published: String?

        var testDescription: String { name }
    }

    private static let first = #"{"service_end": "no", "limit": "5", "other": "1"}"#

    @Test(arguments: [
        Row(
            name: "one word, another flag", before: .ofAll("7"),
            flags: #"{"service_end": "no", "limit": "5", "other": "2"}"#, after: .ofAll("8")),
        Row(name: "one word, no flag", before: .ofAll("7"), flags: first, after: .ofAll("8")),
        Row(
            name: "one word, the switch's flag", before: .ofAll("7"),
            flags: #"{"service_end": "over", "limit": "5", "other": "1"}"#, after: .ofAll("8"),
            published: "8"),
        Row(
            name: "one word, a value's flag", before: .ofAll("7"),
            flags: #"{"service_end": "no", "limit": "6", "other": "1"}"#, after: .ofAll("8"),
            published: "8"),
        Row(
            name: "numbers, another flag", before: .ofEach(["service_end": 3, "limit": 2]),
            flags: #"{"service_end": "no", "limit": "5", "other": "2"}"#,
            after: .ofEach(["service_end": 3, "limit": 2, "other": 9])),
        Row(
            name: "numbers, the same value again", before: .ofEach(["service_end": 3, "limit": 2]),
            flags: first, after: .ofEach(["service_end": 3, "limit": 4]), published: "4"),
        Row(
            name: "numbers, the newest key is gone",
            before: .ofEach(["service_end": 3, "limit": 5]),
            flags: #"{"service_end": "no", "other": "1"}"#,
            after: .ofEach(["service_end": 3, "other": 8]), published: "3"),
        Row(
            name: "next start, another flag", activation: .nextStart, before: .ofAll("7"),
            flags: #"{"service_end": "no", "limit": "5", "other": "2"}"#, after: .ofAll("8")),
    ])
    func aRecordHasTheVersionOfTheFlagsThatItsServiceReads(_ row: Row) throws {
        var shop = try service()
        shop.activation = row.activation
        shop.values = [
            RemoteValue(
                name: "limit", source: "app", key: "limit", type: .integer,
                fallback: .number(Number(5)))
        ]
        var play = try Transcript([shop]).started()
        #expect(try play.versions(of: Self.first, row.before, at: 1).count == 1)
        let published = try play.versions(of: row.flags, row.after, at: 2)
        #expect(published == (row.published.map { [$0] } ?? []))
        // The same once more, and nothing is written.
        #expect(try play.versions(of: row.flags, row.after, at: 3) == [])
    }

    /// The flags are the same, but the source does not say any more that the others are missing.
    @Test func anAnswerThatMayLackFlagsIsNoRepetition() throws {
        var play = try Transcript([try service(format: .status(.whole))]).started()
        var answer = try answer(
            #"{"apiInactive": false, "forceUpdate": false}"#, fetchedAt: play.now.wall)
        play.at(1, .fetchEnded("app", .answer(answer)))
        play.forget()
        answer.unreadable.unlisted = "may be missing"
        play.at(2, .fetchEnded("app", .answer(answer)))
        #expect(play.text.contains("invalid-answer"))
    }

    /// A word for all flags may count up many times before a flag of the service changes.
    @Test func flagsThatChangeLaterHaveTheVersionOfThatTime() throws {
        var play = try Transcript([try service()]).started()
        #expect(
            try play.versions(of: #"{"service_end": "no", "n": 1}"#, .ofAll("1"), at: 1) == ["1"])
        for number in 2..<5 {
            let flags = #"{"service_end": "no", "n": \#(number)}"#
            #expect(try play.versions(of: flags, .ofAll("\(number)"), at: Double(number)) == [])
        }
        #expect(
            try play.versions(of: #"{"service_end": "over", "n": 5}"#, .ofAll("5"), at: 5) == ["5"])
    }
}

extension Transcript {
    /// Answers with these flags and this version. Returns the versions of the records that are published.
    fileprivate mutating func versions(
        of flags: String, _ version: FlagVersion, at seconds: Double
    ) throws -> [String?] {
        var answer = try answer(flags, fetchedAt: now.wall)
        answer.version = version
        return at(seconds, .fetchEnded("app", .answer(answer))).compactMap {
            if case .publish(_, let record) = $0 { record.verdict.version } else { nil }
        }
    }
}

/// A version that rises so far that it is a mistake, or an attack.
@Suite struct VersionJumpTests {
    private func shop(_ name: String = "shop") throws -> Service {
        try service(name, format: .switchObject(.whole))
    }

    private static func flags(_ version: Int64) -> String {
        #"{"state":"running","version":\#(version)}"#
    }

    private static let far: Int64 = 1 << 32
    private static let rises: [(from: Int64?, to: Int64, isOne: Bool)] = [
        (1, far, false), (1, far + 1, false), (1, far + 2, true), (.min, .max, true),
        (-1, .max, true), (.max - 1, .max, true), (0, 1, false), (nil, 1_793_000_000_000, false),
        (nil, 1, false), (nil, .min, false), (nil, .max, true), (nil, .max - far, false),
        (nil, .max - far + 1, true),
    ]

    @Test(arguments: rises)
    func aJumpIsARiseOverTwoToThe32OrOneToTheEnd(from: Int64?, to: Int64, isOne: Bool) {
        #expect((VersionJump(from: from, to: to) != nil) == isOne)
    }

    /// It is told once for a source, however many services read it, and lasts until the next rise.
    @Test func aJumpIsToldOnceAndShownWhileItLasts() throws {
        var play = try Transcript([try shop(), try shop("web")]).answered(Self.flags(7))
        let warnings = { (play: Transcript) in
            play.machine.view(of: "app", at: play.now)?.warnings
        }
        try play.at(1, "app", answers: Self.flags(1 << 40))
        let warning =
            "version jumped from 7 to 1099511627776; lower versions are refused from now on. If this "
            + "is a mistake, type 'killswitchctl forget SOURCE'"
        #expect(warnings(play) == [warning])
        try play.at(2, "app", answers: Self.flags(1 << 40))
        try play.at(3, "app", answers: Self.flags(8))
        #expect(warnings(play) == [warning])
        try play.at(4, "app", answers: Self.flags(1 << 40 + 1))
        #expect(warnings(play) == [])
        let lines = play.text.split(separator: "\n").filter { $0.contains("version jumped") }
        #expect(
            lines == [
                "    log warning: source 'app': \(warning)",
                "    log info: over: source 'app': \(warning)",
            ])
    }

    @Test func aJumpIsForgottenWithTheVersion() throws {
        var play = try Transcript([try shop()]).answered(Self.flags(.max))
        #expect(play.machine.view(of: "app", at: play.now)?.warnings.count == 1)
        play.at(1, .forget("app", by: "root (uid 0)"))
        #expect(play.machine.view(of: "app", at: play.now)?.warnings == [])
        #expect(try play.states(at: 2, "app", answers: Self.flags(1)) == [.running])
        #expect(play.machine.view(of: "app", at: play.now)?.warnings == [])
    }

    /// A plain `forget` keeps the version of signed documents, so that the warning names the one that does not.
    @Test func aJumpOfSignedDocumentsNamesTheOrderThatLetsGoOfIt() throws {
        var play = try Transcript.signed(try service())
        let flags = #"{"service_end":"no""#
        try play.accept(1, flags, version: 7, by: ["alice"])
        try play.accept(2, flags, version: 1 << 40, by: ["alice"])
        let warning =
            "version jumped from 7 to 1099511627776; lower versions are refused from now on. If this "
            + "is a mistake, type 'killswitchctl forget SOURCE --accepted-version --reason TEXT'"
        #expect(play.machine.view(of: "app", at: play.now)?.warnings == [warning])
        play.at(3, .forget("app", by: "root (uid 0)"))
        try play.accept(4, flags, version: 1 << 40, by: ["alice"])
        #expect(play.machine.view(of: "app", at: play.now)?.warnings == [warning])
    }
}

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
