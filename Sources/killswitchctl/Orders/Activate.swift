import ArgumentParser
import Decision
import JSON

/// `killswitchctl activate [SERVICE]`
struct Activate: Order {
    static let configuration = CommandConfiguration(
        abstract: "Put stored flags in force that wait for the next start.",
        discussion: """
            For services with activation = "next-start", whose values do not change while they run.

            example: killswitchctl activate shop
            """)

    @OptionGroup var common: CommonOptions

    @Flag(help: "Print the daemon's answer as JSON.")
    var json = false

    @Argument(help: "The service; all of them when none is named.", completion: .services)
    var service: ServiceName?

    var method: String { "Activate" }

    func parameters() -> JSON.Object { ["service": service.map { .string($0.text) } ?? .null] }

    func lines(_ answer: JSON.Object) -> [String] {
        let activated = (answer["activated"]?.array ?? []).compactMap(\.string)
        let first =
            activated.isEmpty
            ? "no flags were waiting, nothing has changed"
            : "in force now: the newest flags of \(activated.joined(separator: ", "))"
        return [first] + ServiceAnswer.all(in: answer).map(\.line)
    }
}
