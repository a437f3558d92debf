import Configuration
import Decision
import SourceSettings
import Testing

/// The sources that addresses make: name, path and the line of the address.
private func sources(of text: String, file: String = file) throws(ConfigurationError) -> [String] {
    try load(text, file: file).sources.map { source in
        switch source.kind {
        case .file(let path, _): "\(source.name) \(path) \(source.origin.line)"
        case .http(let settings): "\(source.name) \(settings.url) \(source.origin.line)"
        case .etcd, .ofrep, .firebase, .firebaseServer:
            "\(source.name), which no address can be of"
        }
    }
}

@Test func theSameAddressIsOneSource() throws {
    let text = """
        [service.shop]
        source = "file:/etc/killswitchd/flags.json"
        format = "status"
        [[service.blog.switch]]
        source = "file:flags.json"
        format = "status"
        [[service.blog.switch]]
        source = "file:.//./flags.json"
        format = "maintenance"
        [[service.blog.switch]]
        source = "file:other.json"
        format = "maintenance"
        """
    #expect(
        try sources(of: text) == [
            "shop /etc/killswitchd/flags.json 2", "blog /etc/killswitchd/other.json 11",
        ])
    let switches = try load(text).services.flatMap(\.switches).map(\.source.text)
    #expect(switches == ["shop", "shop", "shop", "blog"])
}

@Test func anImpliedSourceTakesTheNextFreeName() throws {
    #expect(
        try sources(
            of: """
                [source.shop]
                type = "file"
                path = "/explicit"
                [source.shop-3]
                type = "file"
                path = "/explicit"
                [[service.shop.switch]]
                source = "file:/a"
                format = "status"
                [[service.shop.switch]]
                source = "file:/b"
                format = "status"
                """) == [
                "shop /explicit 1", "shop-3 /explicit 4", "shop-2 /a 8", "shop-4 /b 11",
            ])
}

@Test func aLongNameIsShortenedToMakeRoomForTheNumber() throws {
    let service = String(repeating: "s", count: 63)
    let names = try load(
        """
        [[service.\(service).switch]]
        source = "file:/a"
        format = "status"
        [[service.\(service).switch]]
        source = "file:/b"
        format = "status"
        """
    ).sources.map(\.name.text)
    #expect(names == [service, "\(service.dropLast(2))-2"])
}

@Test func anAddressIsNotTheSourceOfATableWithTheSamePath() throws {
    #expect(
        try sources(
            of: """
                [source.app]
                type = "file"
                path = "/a"
                interval = "1h"
                [service.shop]
                source = "file:/a"
                format = "status"
                """) == ["app /a 1", "shop /a 6"])
}

struct PathText: Sendable, CustomTestStringConvertible {
    let address: String
    let file: String
    let path: String
    var testDescription: String { "\(address) in \(file)" }
}

@Test(arguments: [
    PathText(address: "/a/b", file: "/etc/k/k.toml", path: "/a/b"),
    PathText(address: "///a//b/", file: "/etc/k/k.toml", path: "/a/b"),
    PathText(address: "b", file: "/etc/k/k.toml", path: "/etc/k/b"),
    PathText(address: "./b", file: "/etc/k/k.toml", path: "/etc/k/b"),
    PathText(address: "../b", file: "/etc/k/k.toml", path: "/etc/k/../b"),
    PathText(address: "c:d", file: "/k.toml", path: "/c:d"),
    PathText(address: "b", file: "k.toml", path: "b"),
    PathText(address: "b", file: "./conf/k.toml", path: "conf/b"),
    PathText(address: "ä %20", file: "/etc/k/k.toml", path: "/etc/k/ä %20"),
    // As characters the slash and the combining mark are one; as bytes they are two.
    PathText(address: "a/\u{301}b", file: "/etc/\u{301}k/k.toml", path: "/etc/\u{301}k/a/\u{301}b"),
])
func aPathBeginsInTheFolderOfTheFileThatNamesIt(_ path: PathText) throws {
    let text = "[service.s]\nsource = \"file:\(path.address)\"\nformat = \"status\""
    #expect(try sources(of: text, file: path.file) == ["s \(path.path) 2"])
}
