import Files
import JSON
import Support
import Testing

extension OnSystemd {
    /// What 0.1 has published is still published, in the same scenario: see docs/stability.md.
    @Suite struct PromiseTests {
        private static let examples = "Tests/Examples/0.1"

        /// The files and links below a folder of the example: their paths, and where a link leads.
        private func files(in folder: String) throws -> [(path: String, target: String)] {
            let place = "\(Programs.project)/\(Self.examples)/\(folder)"
            let lines = try Program.succeed(
                "/usr/bin/find", [place, "!", "-type", "d", "-printf", "%P|%l\\n"])
            return lines.split(separator: "\n").map { line in
                let words = line.split(separator: "|", omittingEmptySubsequences: false)
                return (String(words[0]), String(words[1]))
            }
        }

        private func copy(_ folder: String, to host: Host, as place: String) throws {
            for (file, target) in try files(in: folder) {
                let parent = ([Substring(place)] + file.split(separator: "/").dropLast()).joined(
                    separator: "/")
                if target.isEmpty {
                    let path = "\(Programs.project)/\(Self.examples)/\(folder)/\(file)"
                    try host.system.copy(path, to: parent)
                } else {
                    try host.run("mkdir -p '\(parent)' && ln -s '\(target)' '\(place)/\(file)'")
                }
            }
        }

        @Test func everyFileIsThereWithItsMembersAndTheirTypes() throws {
            let host = try Host("", flags: nil)
            try host.run("rm -rf /run/t-promises; rm /etc/killswitchd/killswitchd.toml")
            try copy("etc", to: host, as: "/run/t-promises/etc")
            let scenario = "\(Programs.project)/Tests/Examples/scenario"
            try host.system.copy(scenario, to: "/run/t-promises")
            try host.run(
                "timeout 260 sh /run/t-promises/scenario /run/t-promises /run/t-promises/published")
            // The links by which a target started its units are lines of its drop-ins now.
            for (file, _) in try files(in: "published")
            where !file.hasPrefix("state/") && !file.contains(".wants/") {
                let place = "/run/t-promises/published/\(file)"
                let isThere =
                    try host.system.attempt("test -e '\(place)' -o -L '\(place)'").status == 0
                #expect(isThere, "'\(file)' of 0.1 is gone: see docs/stability.md")
                guard isThere, PublishedShape.hasMembers(file) else { continue }
                let before = try Programs.text(of: "\(Self.examples)/published/\(file)")
                let older = try PublishedShape(of: file, before)
                let now = try PublishedShape(of: file, try host.run("cat '\(place)'"))
                for broken in now.breaks(older, of: "0.1") { Issue.record("\(file): \(broken)") }
            }
        }

        @Test func unitsThat01HasAttachedAreAttached() throws {
            let host = try Host(Host.service("shop", #"units = ["t-listed.service"]"#))
            try host.services("t-listed", "t-by-hand", "t-sorry", "t-mail", "t-socket-user")
            try copy("published/units", to: host, as: "/etc/systemd/system")
            try host.startUnits("t-by-hand")
            let rows = try host.json("killswitchctl units --json").array ?? []
            let targets = rows.compactMap(\.object).map { row in
                ["service", "name", "target"].map { row[$0]?.string ?? "-" }.joined(separator: " ")
            }
            let before = try Programs.text(of: "\(Self.examples)/published/units-command.json")
            for row in try JSON.Value.parse(before).array?.compactMap(\.object) ?? [] {
                let words = ["service", "name", "target"].map { row[$0]?.string ?? "-" }
                #expect(targets.contains(words.joined(separator: " ")))
            }
            try host.set(Host.maintenance, down: "t-by-hand")
            let renewed = try host.json("killswitchctl attach --renew --json").object
            #expect(renewed?["edited"]?.array?.isEmpty == true)
            try host.set(Host.open, up: "t-by-hand")
        }
    }
}
