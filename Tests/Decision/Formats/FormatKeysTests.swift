import CivilTime
import Decision
import JSON
import Testing

/// What a format reads, and what it compares, are the same keys.
@Suite struct FormatKeysTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let format: Format
        /// Flags with every key of the format.
        let flags: JSON.Object
        /// Keys that are read in place of these.
        var others: [String] = []

        var testDescription: String { format.word }
    }

    private static let time = JSON.Value.string("2027-03-01T12:00:00Z")

    private static let rows = [
        Row(
            format: .status(.whole),
            flags: [
                "apiInactive": true, "forceUpdate": true, "retryInterval": 1, "userMessage": "m",
            ]),
        Row(
            format: .maintenance(.whole),
            flags: ["isUnderMaintenance": true, "title": "t", "message": "m"]),
        Row(
            format: .switchObject(.whole),
            flags: [
                "state": "countdown", "ends_at": time, "windows": [], "minimum_version": "1",
                "version": 1, "expires": time, "issued": time, "title": "t", "message": "m",
                "retry_after": 1, "rollout": [["at": time, "percent": 1]], "seed": "s",
                "drain": true,
            ], others: [FlagDocument.wholeKey]),
        Row(format: .boolean(BooleanFlag(key: "off", closedWhen: true)), flags: ["off": true]),
    ]

    /// A new key of a format has to stand in these flags, and has to be read: else one of these fails.
    @Test(arguments: rows) func everyKeyIsReadAndCompared(_ row: Row) throws {
        _ = try row.format.read(row.flags, in: .utc)
        let own = try service(format: row.format)
        let declared = Plan([own]).keysRead.values.flatMap { $0.map(\.text) }
        #expect(declared.sorted() == (row.flags.map(\.key) + row.others).sorted())
        for (key, _) in row.flags {
            var other = row.flags
            other[key] = [[]]
            // No key takes a list of a list: a format that reads the key refuses it, or warns of it.
            let outcome = Result { () throws(InvalidFlag) in
                try row.format.read(other, in: .utc)
            }
            if case .success(let reading) = outcome {
                #expect(reading.leniencies.contains { $0.hasPrefix("key '\(key)' ") }, "\(key)")
            }
            #expect(row.format.relevant(in: other) != row.format.relevant(in: row.flags), "\(key)")
        }
    }

    /// A change of any key reaches the service: no answer with it is a repeat.
    @Test(arguments: rows) func aChangeOfEachKeyIsNoRepeat(_ row: Row) throws {
        let text = { (flags: JSON.Object) in JSON.Value.object(flags).serialized(.compact) }
        for (key, _) in row.flags {
            var play = try Transcript([service(format: row.format)])
                .answered(text(row.flags), at: 1)
            var other = row.flags
            other[key] = [[]]
            try play.at(2, "app", answers: text(other))
            #expect(play.text.contains("key '\(key)"), "\(play.text)")
        }
    }
}
