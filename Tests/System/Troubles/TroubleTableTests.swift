import Files
import Glibc
import JSON
import Support
import Testing

extension OnSystemd {
    /// Every surface tells every kind of trouble. docs/troubles.md shows their words, and is held to them:
    /// with KILLSWITCHD_WRITE_TROUBLES in the environment the tests write it.
    @Suite struct TroubleTableTests {
        @Test(arguments: Trouble.all) func everySurfaceSaysSo(_ trouble: Trouble) throws {
            let host = try Host(trouble.configuration, flags: trouble.flags)
            let begin = try host.run("date +%s.%N").dropLast()
            try trouble.prepare(host)
            var section = ""
            try host.undoing(trouble.end) {
                let hasUnit = try host.system.attempt("systemctl cat t-web").status == 0
                try host.start(attaching: hasUnit ? "t-web" : "")
                try trouble.cause(host)
                section = try words(of: trouble, on: host, since: String(begin))
            }
            let page = try TroublePage()
            #expect(!section.contains(TroublePage.gap), "\(section)")
            if unsafe getenv("KILLSWITCHD_WRITE_TROUBLES") != nil {
                try page.write(section, of: trouble.name)
            } else {
                #expect(page.section(of: trouble.name) == section)
            }
        }

        /// The words of all surfaces, once monitoring is told.
        private func words(of trouble: Trouble, on host: Host, since begin: String) throws -> String
        {
            let quoted = "\"\(trouble.needle)\""
            let shown = trouble.inFiles ?? trouble.needle
            try host.wait(until: "killswitchctl status --check | grep -qF \"\(shown)\"")
            if trouble.hasDaemon {
                try host.wait(
                    until: "systemctl show killswitchd -P StatusText | grep -qF \(quoted)")
            }
            #expect(try host.control("status --check").status == 1)
            let journal =
                "journalctl --sync; journalctl -u killswitchd -u killswitchd-alarm -o cat "
                + "--since @\(begin)"
            let statusText =
                trouble.hasDaemon
                ? "systemctl show killswitchd -P StatusText"
                : "systemctl show killswitchd -p ActiveState"
            let surfaces: [(String, String, String)] = [
                ("status", "killswitchctl status 2>&1", shown),
                (
                    "status --json", "killswitchctl status --json 2>/dev/null | grep '\"text\": '",
                    shown
                ),
                ("status --check", "killswitchctl status --check", shown),
                ("explain", "killswitchctl explain shop 2>&1", shown),
                ("units", "killswitchctl units shop 2>&1", shown),
                ("STATUS=", statusText, trouble.hasDaemon ? trouble.needle : "=inactive"),
                ("journal", journal, trouble.journal ?? trouble.needle),
                (
                    "systemctl status",
                    "systemctl status --no-pager --full --lines=20 \(trouble.unit)", trouble.needle
                ),
            ]
            var section = "## \(trouble.name.prefix(1).uppercased())\(trouble.name.dropFirst())\n\n"
            section += "| surface | says |\n|---|---|\n"
            for (name, command, needle) in surfaces {
                let output = try host.system.attempt(command).output
                section += "| \(name) | \(TroublePage.cell(output, with: needle)) |\n"
            }
            return section
        }
    }
}

struct TroublePage {
    /// In the place of a surface that says nothing.
    static let gap = "(nothing)"
    private static let path = "\(Programs.project)/docs/troubles.md"
    private let text: String

    init() throws { text = try Programs.text(of: "docs/troubles.md") }

    /// The first line with these words, without what is different each time.
    static func cell(_ output: String, with needle: String) -> String {
        let lines = output.split(separator: "\n")
        guard let line = lines.first(where: { $0.contains(needle) }) else { return gap }
        let masked = line.drop { $0 == " " }
            .replacing(/\d{4}-\d\d-\d\dT[0-9:]+(\+00:00|Z)/, with: "·")
            .replacing(#/^[A-Z][a-z]{2} \d+ [0-9:]+ \S+ killswitch\w+\[\d+\]: /#, with: "")
            .replacing(/\(for \d+[smhd]\)/, with: "(for ·)")
            .replacing(/\(last sign of life \d+[smhd] ago\)/, with: "(last sign of life · ago)")
            .replacing(#/next poll in \d+ (ms|s|min)\b|asking now/#, with: "next poll in ·")
            .replacing(#/in \d+ (ms|s|min)\b/#, with: "in ·")
            .replacing(#/\d+ (s|min) old/#, with: "· old")
            .replacing(#/\b\d+ ms\b/#, with: "· ms")
            .replacing(#/killswitch-(closed|ended)@/#, with: "killswitch-·@")
            .replacing(#/\d+ more problems?/#, with: "· more")
            .replacing(#/ {2,}/#, with: " ")
            // When `units` was last told of a change, and how long it took.
            .replacing(#/ (-|·) (-|· ms) it/#, with: " · · it")
            .replacing("|", with: "\\|")
        return "`\(masked)`"
    }

    /// The section of a kind of trouble; empty without one.
    func section(of name: String) -> String {
        guard let begin = text.firstRange(of: heading(name)) else { return "" }
        let rest = text[begin.upperBound...]
        let end = rest.firstRange(of: "\n## ")?.lowerBound ?? rest.endIndex
        return heading(name) + rest[..<end].drop { $0 == " " }
    }

    func write(_ section: String, of name: String) throws {
        let known = self.section(of: name)
        let next = known.isEmpty ? text + "\n" + section : text.replacing(known, with: section)
        try File.replace(Self.path, with: Array(next.utf8))
    }

    private func heading(_ name: String) -> String {
        "## \(name.prefix(1).uppercased())\(name.dropFirst())\n"
    }
}
