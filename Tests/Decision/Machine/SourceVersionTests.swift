import CivilTime
import Decision
import JSON
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
                name: try named("limit"), source: try named("app"), key: "limit", type: .integer,
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
        play.at(1, .fetchEnded(try named("app"), .answer(answer)))
        play.forget()
        answer.unreadable.unlisted = "may be missing"
        play.at(2, .fetchEnded(try named("app"), .answer(answer)))
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
        return at(seconds, .fetchEnded(try named("app"), .answer(answer))).compactMap {
            if case .publish(_, let record) = $0 { record.verdict.version } else { nil }
        }
    }
}
