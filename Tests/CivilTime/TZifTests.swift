import CivilTime
import Files
import Testing

@Suite struct TZifTests {
    /// A zone with three offsets, one of them before all transitions.
    static let history = TZifFile(
        types: [600, 3_600, 7_200], transitions: [(-1_000, 1), (1_000, 2), (5_000, 1)])

    @Test(arguments: [
        (-1_001, "+00:10"), (-1_000, "+01:00"), (999, "+01:00"), (1_000, "+02:00"),
        (4_999, "+02:00"), (5_000, "+01:00"), (Int64.max, "+01:00"), (Int64.min, "+00:10"),
    ])
    func offsetsChangeAtTransitions(second: Int64, offset: String) throws {
        let zone = try Zone(name: "History", tzif: Self.history.bytes)
        #expect(zone.offset(at: Instant(seconds: second)).description == offset)
    }

    @Test func theFooterAppliesAfterTheLastTransition() throws {
        var file = Self.history
        file.footer = "CET-1CEST,M3.5.0,M10.5.0/3"
        let zone = try Zone(name: "History", tzif: file.bytes)
        #expect(zone.offset(at: Instant(seconds: 4_999)).description == "+02:00")
        #expect(zone.offset(at: Instant(seconds: 5_000)).description == "+01:00")
        #expect(try zone.offset(at: .at("2027-07-01T00:00:00Z")).description == "+02:00")
    }

    @Test func afterTheLastTransitionOfVersionOneItsTypeHolds() throws {
        var file = Self.history
        file.version = 0
        let zone = try Zone(name: "History", tzif: file.bytes)
        #expect(zone.offset(at: Instant(seconds: -1_001)).description == "+00:10")
        #expect(zone.offset(at: Instant(seconds: 1_000)).description == "+02:00")
        #expect(try zone.offset(at: .at("2100-01-01T00:00:00Z")).description == "+01:00")
    }

    @Test func laterVersionsAndTheirTrailingBytesAreRead() throws {
        var file = Self.history
        file.version = UInt8(ascii: "4")
        #expect(throws: Never.self) {
            try Zone(name: "Later", tzif: file.bytes + Array("more\n".utf8))
        }
    }

    @Test func zonesAreEqualByNameAndContents() throws {
        let zone = try Zone(name: "UTC", tzif: TZifFile(footer: "UTC0").bytes)
        #expect(zone == .utc)
        #expect(zone.hashValue == Zone.utc.hashValue)
        #expect(try Zone(name: "Etc/UTC", tzif: TZifFile(footer: "UTC0").bytes) != .utc)
        #expect(try Zone(name: "UTC", tzif: TZifFile(footer: "UTC1").bytes) != .utc)
        #expect(try Zone(name: "UTC", tzif: Self.history.bytes) != .utc)
    }

    struct Hostile: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        let error: String
        var testDescription: String { name }

        init(_ name: String, _ bytes: [UInt8], _ error: String) {
            (self.name, self.bytes, self.error) = (name, bytes, error)
        }

        init(_ name: String, _ change: (inout TZifFile) -> Void, _ error: String) {
            var file = TZifTests.history
            change(&file)
            self.init(name, file.bytes, error)
        }
    }

    @Test(arguments: [
        Hostile("nothing", [], "it does not begin with 'TZif'"),
        Hostile("text", Array("# tzdb links\n".utf8), "it does not begin with 'TZif'"),
        Hostile(
            "a header cut short", Array(history.bytes.prefix(43)), "it ends before its header does"),
        Hostile(
            "version 1, literally", { $0.version = UInt8(ascii: "1") }, "unknown version byte 49"),
        Hostile("version 255", { $0.version = 255 }, "unknown version byte 255"),
        Hostile(
            "no second header", Array(history.bytes.prefix(54)),
            "it has no second header, as its version asks for"),
        Hostile("no footer", Array(history.bytes.dropLast(2)), "it ends before its footer does"),
        Hostile(
            "no end of the footer", Array(history.bytes.dropLast()),
            "it ends before its footer does"),
        Hostile(
            "counts of four thousand million",
            Array("TZif".utf8) + [0] + Array(repeating: 0, count: 27)
                + Array(repeating: 255, count: 12) + Array(repeating: 0, count: 100),
            "it ends before its data block does"),
        Hostile(
            "leap seconds", { $0.leapSeconds = 27 },
            "it counts leap seconds, which the system clock does not"),
        Hostile("no types", { $0.types = [] }, "it has no local time type"),
        Hostile(
            "a UT indicator too many", { $0.utIndicators = 4 },
            "its indicators are neither none nor one for each local time type"),
        Hostile(
            "a standard indicator too few", { $0.standardIndicators = 2 },
            "its indicators are neither none nor one for each local time type"),
        Hostile(
            "an offset of 26 hours", { $0.types[2] = 93_600 },
            "local time type 2 is 93600 s from UTC, which is not from -89999 to 93599"),
        Hostile(
            "an offset of -2^31", { $0.types[0] = .min },
            "local time type 0 is -2147483648 s from UTC, which is not from -89999 to 93599"),
        Hostile(
            "a designation outside its table", { $0.designationIndex = 4 },
            "local time type 0 has no designation"),
        Hostile(
            "no designations", { $0.designations = [] }, "local time type 0 has no designation"),
        Hostile(
            "a type that is not there", { $0.transitions[1].1 = 3 },
            "transition 1 has no local time type"),
        Hostile(
            "a transition twice", { $0.transitions[2].0 = 1_000 },
            "transition 2 is not later than the one before it"),
        Hostile(
            "transitions backwards", { $0.transitions[0].0 = .max },
            "transition 1 is not later than the one before it"),
        Hostile(
            "a footer of one letter", { $0.footer = "Z" },
            "a designation of three or more characters expected at character 1 of its footer 'Z'"),
        Hostile(
            "a footer with NUL", { $0.footer = "UTC0\0" },
            #"a designation of three or more characters expected at character 5 of its footer 'UTC0\0'"#
        ),
    ])
    func aFileThatIsNoZoneIsRefused(_ hostile: Hostile) {
        let error = #expect(throws: TimeError.self) { try Zone(name: "X", tzif: hostile.bytes) }
        #expect(error?.description == "read time zone 'X': \(hostile.error)")
    }

    @Test func leapSecondZonesOfTheSystemAreRefused() throws {
        let error = #expect(throws: TimeError.self) { try Zone.system("right/Europe/Berlin") }
        #expect(error?.problem == .leapSeconds)
    }

    @Test func everyTruncationOfARealZoneIsRefused() throws {
        let bytes = try File.read("\(systemZones)/America/New_York", limit: 1 << 20)
        for length in bytes.indices {
            #expect(throws: TimeError.self) {
                try Zone(name: "X", tzif: Array(bytes.prefix(length)))
            }
        }
    }

    /// A file with a changed byte is refused, or is a zone whose conversions keep their promises.
    @Test(.timeLimit(.minutes(5))) func aChangedByteNeverCrashesTheReader() {
        var file = Self.history
        file.footer = "<-02>2<-01>,M3.5.0/-1,J300/26:30"
        let bytes = file.bytes
        let instants = [.min, -1, 4_999_000_000, 1_806_480_000_000_000, .max].map(Instant.init)
        var answers = 0
        var wrong: [String] = []
        for index in bytes.indices {
            for value in stride(from: UInt8.min, through: .max - 4, by: 5) {
                var changed = bytes
                changed[index] ^= value
                guard let zone = try? Zone(name: "X", tzif: changed) else { continue }
                for instant in instants {
                    let next = zone.startOfNextDay(after: instant)
                    let found = zone.instant(of: zone.dateTime(at: instant))
                    answers += 1
                    // At the earliest instant a local time cannot lie before it.
                    let isFound = found <= instant || instant == instants[0]
                    if next < instant || !isFound || zone.rfc3339(instant).isEmpty {
                        wrong.append("byte \(index) changed by \(value), at \(instant)")
                    }
                }
            }
        }
        #expect(wrong.prefix(3) == [])
        #expect(answers > 10_000)
    }
}
