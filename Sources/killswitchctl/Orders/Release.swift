import ArgumentParser
import Decision
import JSON

/// `killswitchctl release SERVICE`
struct Release: Order {
    static let configuration = CommandConfiguration(
        abstract: "End what 'force' has ordered: the flags decide again.",
        discussion: "example: killswitchctl release shop")

    @OptionGroup var common: CommonOptions

    @Flag(help: "Print the daemon's answer as JSON.")
    var json = false

    @Argument(help: "The service.", completion: .services)
    var service: ServiceName

    var method: String { "Release" }

    func parameters() -> JSON.Object { ["service": .string(service.text)] }

    func lines(_ answer: JSON.Object) -> [String] {
        let wasForced = answer["wasForced"]?.bool ?? false
        let first =
            wasForced
            ? "\(service): released, its flags decide again"
            : "\(service): it was not forced, nothing has changed"
        return [first, ServiceAnswer(answer["service"]).line]
    }
}
