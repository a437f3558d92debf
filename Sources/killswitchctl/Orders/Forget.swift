import ArgumentParser
import Decision
import JSON

/// `killswitchctl forget SOURCE`
struct Forget: Order {
    static let configuration = CommandConfiguration(
        abstract: "Drop what is stored of a source, and ask it anew.",
        discussion: """
            Also the highest version that was accepted: this is the way back where a source has to \
            begin to count again.

            example: killswitchctl forget app
            """)

    @OptionGroup var common: CommonOptions

    @Flag(help: "Print the daemon's answer as JSON.")
    var json = false

    @Argument(help: "The source.", completion: .sources)
    var source: SourceName

    var method: String { "Forget" }

    func parameters() -> JSON.Object { ["source": .string(source.text)] }

    func lines(_ answer: JSON.Object) -> [String] {
        let services = (answer["services"]?.array ?? []).compactMap(\.string)
        return [
            "source '\(source)': its stored flags and highest version are dropped, it is asked anew",
            "\(services.joined(separator: ", ")): as before until it has answered, at most for "
                + "first_timeout",
        ]
    }
}
