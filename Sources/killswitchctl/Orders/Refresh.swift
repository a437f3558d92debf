import ArgumentParser
import Decision
import JSON

/// `killswitchctl refresh [SOURCE]`
struct Refresh: Order {
    static let configuration = CommandConfiguration(
        abstract: "Fetch flags now, and show what came.",
        discussion: """
            Waits for the answer of the source, and exits with 1 where a fetch failed.

            example: killswitchctl refresh
            """)

    @OptionGroup var common: CommonOptions

    @Flag(help: "Print the daemon's answer as JSON.")
    var json = false

    @Argument(help: "The source; all of them when none is named.", completion: .sources)
    var source: SourceName?

    var method: String { "Refresh" }

    func parameters() -> JSON.Object { ["source": source.map { .string($0.text) } ?? .null] }

    func lines(_ answer: JSON.Object) -> [String] {
        fetched(answer).map { fetch in
            let problem = fetch["problem"]?.string.map { ": \($0)" } ?? ""
            return "source '\(fetch["source"]?.string ?? "")': "
                + "\(fetch["outcome"]?.string ?? "")\(problem)"
        } + ServiceAnswer.all(in: answer).map(\.line)
    }

    func check(_ answer: JSON.Object) throws {
        let hasFailed = fetched(answer).contains { $0["outcome"]?.string == "failed" }
        if hasFailed { throw CommandFailure(.no) }
    }

    private func fetched(_ answer: JSON.Object) -> [JSON.Object] {
        (answer["fetched"]?.array ?? []).compactMap(\.object)
    }
}
