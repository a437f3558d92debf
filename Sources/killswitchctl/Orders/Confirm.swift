import ArgumentParser
import Decision
import JSON

/// `killswitchctl confirm SERVICE…`
struct Confirm: Order {
    static let configuration = CommandConfiguration(
        abstract: "Let services close that were held because too many would close at once.",
        discussion: """
            See close_at_once in killswitchd.toml(5). Exits with 1 where none of them was held.

            example: killswitchctl confirm shop
            """)

    @OptionGroup var common: CommonOptions

    @Flag(help: "Print the daemon's answer as JSON.")
    var json = false

    @Flag(name: .customLong("all"), help: "All that are held.")
    var isAll = false

    @Argument(help: "The services.", completion: .services)
    var services: [ServiceName] = []

    var method: String { "Confirm" }

    func validate() throws {
        guard isAll == services.isEmpty else {
            throw ValidationError("name services, or give --all")
        }
    }

    func parameters() -> JSON.Object {
        ["services": .array(services.map { .string($0.text) })]
    }

    func lines(_ answer: JSON.Object) -> [String] {
        let first =
            confirmed(answer).isEmpty
            ? "nothing was held" : "confirmed: \(confirmed(answer).joined(separator: ", "))"
        return [first] + ServiceAnswer.all(in: answer).map(\.line)
    }

    func check(_ answer: JSON.Object) throws {
        if confirmed(answer).isEmpty { throw CommandFailure(.no) }
    }

    private func confirmed(_ answer: JSON.Object) -> [String] {
        (answer["confirmed"]?.array ?? []).compactMap(\.string)
    }
}
