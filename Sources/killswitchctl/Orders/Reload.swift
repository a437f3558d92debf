import ArgumentParser
import JSON

/// `killswitchctl reload`
struct Reload: Order {
    static let configuration = CommandConfiguration(
        abstract: "Have the daemon read its configuration again.",
        discussion: """
            A configuration that is wrong changes nothing: each mistake is printed with its file \
            and line, and the exit status is 78.

            example: killswitchctl reload
            """)

    @OptionGroup var common: CommonOptions

    @Flag(help: "Print the daemon's answer as JSON.")
    var json = false

    var method: String { "Reload" }

    func parameters() -> JSON.Object { JSON.Object() }

    func lines(_ answer: JSON.Object) -> [String] {
        ["the configuration is in force: \(names(answer, "service")); \(names(answer, "source"))"]
    }

    /// `2 services (shop, web)`
    private func names(_ answer: JSON.Object, _ thing: String) -> String {
        let names = (answer["\(thing)s"]?.array ?? []).compactMap(\.string)
        let list = names.isEmpty ? "" : " (\(names.joined(separator: ", ")))"
        return "\(names.count) \(thing)\(names.count == 1 ? "" : "s")\(list)"
    }
}
