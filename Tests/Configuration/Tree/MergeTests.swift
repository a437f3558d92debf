import Configuration
import Decision
import Testing

private func merged(_ texts: [String]) throws(ConfigurationError) -> Settings {
    let files = texts.enumerated().map { (path: "/\($0)/f", bytes: Array($1.utf8)) }
    return try Settings(files: files, zones: .known)
}

private func errors(merging texts: String...) -> String {
    do {
        _ = try merged(texts)
        return ""
    } catch {
        return error.description
    }
}

/// The settings that a file sets, with their places.
private func written(_ texts: String...) throws(ConfigurationError) -> [String] {
    try merged(texts).effective.filter { $0.origin != nil }.map(\.description)
}

@Test func aLaterFileReplacesLeavesAndAddsToTables() throws {
    #expect(
        try written(
            """
            [source.app]
            type = "file"
            path = "a.json"
            interval = "30s"
            [service.shop]
            source = "app"
            format = "status"
            """,
            """
            [service.shop]
            max_stale = "1h"
            [source.app]
            interval = "10s"
            path = "b.json"
            """) == [
                #"source.app.type = "file"   (/0/f:2)"#,
                #"source.app.path = "/1/b.json"   (/1/f:5)"#,
                #"source.app.interval = "10s"   (/1/f:4)"#,
                #"service.shop.source = "app"   (/0/f:6)"#,
                #"service.shop.format = "status"   (/0/f:7)"#,
                #"service.shop.max_stale = "1h"   (/1/f:2)"#,
            ])
}

@Test func aLaterArrayReplacesAnEarlierOne() throws {
    #expect(
        try written(
            """
            [[service.shop.switch]]
            source = "file:a.json"
            format = "status"
            [[service.shop.switch]]
            source = "file:b.json"
            format = "status"
            """,
            """
            [[service.shop.switch]]
            source = "file:c.json"
            format = "maintenance"
            """) == [
                #"source.shop.type = "file"   (/1/f:2)"#,
                #"source.shop.path = "/1/c.json"   (/1/f:2)"#,
                #"service.shop.switch[0].source = "file:c.json"   (/1/f:2)"#,
                #"service.shop.switch[0].format = "maintenance"   (/1/f:3)"#,
            ])
}

@Test func aServiceMayBeInAnyFile() throws {
    let settings = try merged([
        "", "[service.b]\nsource = 'file:/b'\nformat = 'status'",
        "[service.a]\nsource = 'file:/a'\nformat = 'status'",
    ])
    #expect(settings.services.map(\.name.text) == ["b", "a"])
}

@Test func errorsComeInTheOrderOfTheFiles() {
    #expect(
        errors(
            merging: "[service.shop]\nsource = 'file:/a'\nformat = 'state'",
            "[service.shop]\nwhen_stale = 1\n[service.blog]\nsource = 'file:/a'",
            "service.shop.at_end = 'x'")
                == """
                /0/f:3:10: bad value 'state' for 'format' in [service.shop]: \
                expected 'service-end', 'boolean', 'status', 'maintenance' or 'switch'
                /1/f:2:14: wrong type for 'when_stale' in [service.shop]: \
                expected 'hold', 'open', 'closed' or 'ended', found an integer
                /1/f:3:1: missing key 'format' in [service.blog]
                /2/f:1:23: bad value 'x' for 'at_end' in [service.shop]: expected 'ended' or 'keep'
                """)
}

@Test func theSyntaxOfEveryFileIsChecked() {
    #expect(
        errors(merging: "a", "[service.shop]\nsource = 'file:/a'\nformat = 'status'", "[")
            == """
            /0/f:1:2: syntax error in key-value pair: encountered end-of-file
            /2/f:1:2: syntax error in table header: encountered end-of-file
            """)
}

/// The tables of the files `0` and `1`, merged.
private func merged(_ first: String, _ second: String) throws(Diagnostic) -> Table {
    var root = try Table(toml: Array(first.utf8), file: "0")
    root.merge(try Table(toml: Array(second.utf8), file: "1"))
    return root
}

@Test func mergingReplacesATableByALeafAndKeepsTheOrder() throws {
    let root = try merged("a.x = 1\nb = 2\nc = 3", "d = 4\nb.y = 5\na = 6")
    #expect(root.members.map(\.key) == ["a", "b", "c", "d"])
    #expect(root["a"]?.node == Node(.integer(6), at: Origin(file: "1", line: 3, column: 5)))
    #expect(root["c"]?.node == Node(.integer(3), at: Origin(file: "0", line: 3, column: 5)))
    #expect(root["b"]?.keyOrigin == Origin(file: "1", line: 2, column: 1))
}

@Test func keysThatDifferInBytesOnlyAreNotMerged() throws {
    let root = try merged("\"\u{E9}\" = 1", "\"e\u{301}\" = 2")
    #expect(root.members.count == 2)
    #expect(root["e\u{301}"]?.node.value == .integer(2))
}

@Test func noFileAtAllIsAnErrorToo() {
    #expect(throws: ConfigurationError.self, performing: { try Settings(files: [], zones: .known) })
}
