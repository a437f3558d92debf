import Configuration
import Decision
import Testing

struct HostileFile: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    var testDescription: String { name }

    init(_ name: String, _ bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    /// The text, repeated up to the size limit of a file.
    init(_ name: String, filledWith text: String) {
        let unit = Array(text.utf8)
        let count = Table.largestFile / unit.count
        self.init(name, Array(repeatElement(unit, count: count).joined()))
    }
}

/// Whether a line begins with `f:LINE:COLUMN: `.
private func hasPlace(_ line: Substring) -> Bool {
    let parts = line.split(separator: ":", maxSplits: 3)
    return parts.count == 4 && parts[0] == "f" && Int(parts[1]).map { $0 > 0 } == true
        && Int(parts[2]).map { $0 > 0 } == true
}

@Test(
    .timeLimit(.minutes(5)),
    arguments: [
        HostileFile("brackets", filledWith: "["),
        HostileFile(
            "nested arrays", Array("a = ".utf8) + Array(repeating: UInt8(ascii: "["), count: 40)),
        HostileFile("nested tables", Array(("a = " + String(repeating: "{b=", count: 40)).utf8)),
        HostileFile("dots", filledWith: "a."),
        HostileFile("a header of dots", Array("[\(String(repeating: "a.", count: 40))a]".utf8)),
        HostileFile("dots in nested tables", filledWith: "a.a.a.a.a.a.a.a={"),
        HostileFile("quotes", filledWith: "\""),
        HostileFile("apostrophes", filledWith: "'"),
        HostileFile("NUL", filledWith: "\0"),
        HostileFile("line feeds", filledWith: "\n"),
        HostileFile("carriage returns", filledWith: "\r"),
        HostileFile("comment", filledWith: "#"),
        HostileFile("one long key", filledWith: "k"),
        HostileFile(
            "digits", Array("a = ".utf8) + Array(repeating: UInt8(ascii: "9"), count: 1 << 19)),
        HostileFile(
            "a long date", Array("a = 2024-01-01\(String(repeating: "_", count: 116)) 1".utf8)),
        HostileFile("letters that are no blanks", filledWith: "ä"),
        HostileFile("not UTF-8", [0x61, 0x3D, 0x22, 0xFF, 0x22]),
        HostileFile("a surrogate", [0x61, 0x3D, 0x22, 0xED, 0xA0, 0x80, 0x22]),
        HostileFile("overlong", [0x61, 0x3D, 0x22, 0xC0, 0x80, 0x22]),
        HostileFile("cut in a character", [0x61, 0x3D, 0x22, 0xE3, 0x81]),
        HostileFile("UTF-16", [0xFF, 0xFE, 0x61, 0x00, 0x3D, 0x00]),
        HostileFile("byte order mark", [0xEF, 0xBB, 0xBF]),
        HostileFile("many unknown keys", Array((0..<20_000).map { "k\($0)=1\n" }.joined().utf8)),
        HostileFile("many tables", Array((0..<20_000).map { "[service.s\($0)]\n" }.joined().utf8)),
        HostileFile("too large", Array(repeating: 0x0A, count: Table.largestFile + 1)),
    ])
func hostileInputIsRefusedWithAPlace(_ file: HostileFile) {
    let lines = errors(in: file.bytes).split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.allSatisfy(hasPlace))
}

@Test func aFileThatIsTooLargeIsNotParsed() {
    #expect(
        errors(in: Array(repeating: 0x0A, count: 1_048_577))
            == "f:1:1: file of 1048577 bytes: at most 1048576 are read")
}

@Test func manyServicesAreReadInTimeThatGrowsWithTheirNumber() throws {
    let text = (0..<2_000).map { "[service.s\($0)]\nsource='file:\($0)'\nformat='status'\n" }
    let settings = try load(text.joined())
    #expect(settings.services.count == 2_000)
    #expect(settings.sources.count == 2_000)
}

@Test(.timeLimit(.minutes(5)), arguments: 0..<8 as Range<UInt64>)
func randomBytesNeverCrash(_ seed: UInt64) {
    var random = SeededRandom(seed: seed)
    for _ in 0..<200 {
        let count = Int.random(in: 1...200, using: &random)
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
        #expect(errors(in: bytes).split(separator: "\n").allSatisfy(hasPlace))
    }
}

@Test(.timeLimit(.minutes(5)), arguments: 0..<8 as Range<UInt64>)
func aFileWithAFewBytesChangedNeverCrashes(_ seed: UInt64) {
    let text = """
        [source.app]
        type = "file"
        path = 'a.json' # relative
        max_body = 1_000
        [service.shop]
        time_zone = "Asia/Tokyo"
        max_stale = 1979-05-27 07:32:00Z
        switch = [{source = "app", format = "service-end"}, {source = \"""file:/a\""", key.a = 1.5}]
        """
    var random = SeededRandom(seed: seed)
    for _ in 0..<200 {
        var bytes = Array(text.utf8)
        for _ in 0...Int.random(in: 0...4, using: &random) {
            let at = Int.random(in: 0..<bytes.count, using: &random)
            bytes[at] = UInt8.random(in: 0...255, using: &random)
        }
        let printed = errors(in: bytes)
        #expect(!printed.isEmpty)
        #expect(printed.split(separator: "\n").allSatisfy(hasPlace))
    }
}
