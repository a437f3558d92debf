import Configuration
import Decision
import Files
import Gates
import Metrics
import Pages
import Storage
import Support
import Testing

/// The man pages and the example cover every setting, option, reason and kind of log entry.
@Suite struct DocumentTests {
    @Test func everyConfigurationKeyIsInItsManPageAndInTheExample() throws {
        let page = try Programs.text(of: "man/killswitchd.toml.5").split(separator: "\n")
        let example = try Programs.text(of: "etc/killswitchd.toml")
        for (table, keys) in Schema.tables {
            for key in keys {
                let isListed = page.contains { ($0 + " ").hasPrefix(".It Ic \(key) ") }
                #expect(isListed, "\(key) of \(table)")
                let isShown = example.contains("\(key) = ") || example.contains(".\(key)]")
                #expect(isShown, "\(key) of \(table)")
            }
        }
    }

    @Test func theExampleOfAPageIsTheTemplateThatKillswitchdBrings() throws {
        #expect(try Programs.text(of: "etc/page.html") == PageTemplate.standardText)
    }

    @Test func everyFieldOfATemplateIsInTheManPage() throws {
        let page = try Programs.text(of: "man/killswitchd.toml.5").split { " ,\n".contains($0) }
        for name in PageTemplate.fieldNames { #expect(page.contains(Substring(name)), "\(name)") }
    }

    @Test func everyMetricIsInItsManPage() throws {
        let page = try Programs.text(of: "man/killswitchd-metrics.7").split(separator: "\n")
        for metric in Metric.allCases {
            let isListed = page.contains { ($0 + " ").hasPrefix(".It Li \(metric.name) ") }
            #expect(isListed, "\(metric.name)")
        }
    }

    /// The catalog, and the lists of findings, events and reasons in the page, are made with UPDATE=1.
    @Test func whatIsMadeFromATableIsAsTheTable() throws {
        let catalog = "packaging/catalog/killswitchd.catalog"
        var page = try Programs.text(of: "man/killswitchd.8")
        for (list, text) in [
            ("events", FindingPages.events), ("findings", FindingPages.findings),
            ("reasons", FindingPages.reasons), ("refusals", FindingPages.refusals),
        ] {
            let (begin, end) = (".\\\" begin: \(list)\n", ".\\\" end: \(list)\n")
            let first = try #require(page.firstRange(of: begin)).upperBound
            let last = try #require(page.firstRange(of: end)).lowerBound
            if !TranscriptFile.isUpdating { #expect(page[first..<last] == text) }
            page.replaceSubrange(first..<last, with: text)
        }
        if TranscriptFile.isUpdating {
            try Programs.write(FindingPages.catalog, to: catalog)
            try Programs.write(page, to: "man/killswitchd.8")
        }
        #expect(try Programs.text(of: catalog) == FindingPages.catalog)
    }

    @Test func noTwoKindsOfEntriesHaveOneID() {
        let ids =
            Finding.Kind.allCases.compactMap(\.row.messageID)
            + LogMessage.Kind.allCases.map(\.row.messageID)
        #expect(Set(ids).count == ids.count && ids.allSatisfy { $0.count == 32 })
    }

    @Test func everyOptionOfTheDaemonIsInItsManPage() throws {
        let help = try Programs.run("killswitchd", ["--help"]).output
        try expectOptions(of: help, in: try Programs.text(of: "man/killswitchd.8"))
    }

    /// The commands are those that the program lists itself.
    @Test func everyOptionOfACommandIsInTheManPage() throws {
        let program = try Programs.path(of: "killswitchctl")
        let page = try Programs.text(of: "man/killswitchctl.1")
        let overview = try Program.run(program, ["--help"]).output
        let commands = overview.matches(of: /\n  ([a-z][a-z-]+) +[A-Z]/).map { String($0.1) }
        #expect(commands.contains("status") && commands.contains("plan"))
        for command in [[]] + commands.map({ [$0] }) {
            let help = try Program.run(program, command + ["--help"]).expect(0, output: "example: ")
            try expectOptions(of: help.output, in: page)
        }
    }

    /// What a command takes is said three times: by its help, in the synopsis of the page, and by the completions.
    @Test func helpSynopsisAndCompletionsNameTheSameOptions() throws {
        let program = try Programs.path(of: "killswitchctl")
        let page = try Programs.text(of: "man/killswitchctl.1")
        let part = page.firstMatch(of: /(?s)\.Sh SYNOPSIS(.*?)\.Sh DESCRIPTION/)?.1
        let synopsis = try #require(part)
        var documented: [String: Set<String>] = [:]
        for form in synopsis.split(separator: "\n.Nm\n") {
            guard let command = form.firstMatch(of: /(?:^|\n)\.Cm ([a-z-]+)/)?.1 else { continue }
            documented[String(command), default: []].formUnion(Self.options(in: form))
        }
        let script = try Program.run(program, ["--generate-completion-script", "fish"]).expect(0)
        var completed: [String: Set<String>] = [:]
        for match in script.output.matches(
            of: /options "killswitchctl ([a-z-]+)"[^\n]*? -l '([a-z-]+)'/)
        {
            completed[String(match.1), default: []].insert(String(match.2))
        }
        let everywhere: Set = ["help", "version"]
        #expect(documented.count == 24, "\(documented.keys.sorted())")
        for (command, options) in documented {
            let help = try Program.run(program, [command, "--help"]).expect(0).output
            let own = help.matches(of: /\n  (?:-\w, )?(--[^ ]+)/).flatMap { line in
                line.1.matches(of: /--([a-z-]+)/).map { String($0.1) }
            }
            #expect(Set(own).subtracting(everywhere) == options, "\(command)")
            #expect(completed[command]?.subtracting(everywhere) == options, "\(command)")
        }
    }

    /// The tables of events and effects in the page about the architecture have each case of the enums, and no other.
    @Test(arguments: [
        ("Event", "Decision/Machine/Event.swift"), ("Effect", "Decision/Machine/Effect.swift"),
        ("GateEvent", "Gates/GateEvent.swift"),
        ("GateEffect", "Gates/GateEffect.swift"),
    ])
    func everyCaseOfAMachineIsInItsTable(_ name: String, _ file: String) throws {
        let source = try Programs.text(of: "Sources/\(file)").split(
            separator: "\n", omittingEmptySubsequences: false)
        let begin = try #require(source.firstIndex { $0.contains("enum \(name): ") })
        let end = try #require(source[begin...].firstIndex { $0 == "}" })
        let cases = source[begin..<end].compactMap {
            $0.firstMatch(of: /^    (?:indirect )?case (\w+)/)?.1
        }
        let page = try Programs.text(of: "docs/ARCHITECTURE.md").split(
            separator: "\n", omittingEmptySubsequences: false)
        let header = try #require(page.firstIndex { $0.hasPrefix("| `\(name)`") })
        let rows = page[(header + 2)...].prefix { $0.hasPrefix("|") }
        let named = rows.flatMap { row in
            row.split(separator: "|").first.map { $0.matches(of: /`(\w+)`/).map(\.1) } ?? []
        }
        #expect(Set(cases) == Set(named))
        #expect(named.count == Set(named).count)
    }

    /// Expects every long option of a help text in a man page. mdoc writes it as `Fl -name`, or after a
    /// comma or a bar behind another option.
    private func expectOptions(of help: String, in page: String) throws {
        let options = Set(help.matches(of: /--([a-z][a-z-]+)/).map { String($0.1) })
        try #require(!options.isEmpty)
        #expect(options.subtracting(Self.options(in: page)) == [])
    }

    private static func options(in page: some StringProtocol) -> Set<String> {
        Set(Substring(page).matches(of: /(?:Fl|,|\|) -([a-z][a-z-]+)/).map { String($0.1) })
    }
}
