import ArgumentParser
import Decision
import JSON

/// `killswitchctl explain SERVICE`
struct Explain: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say why a service is in its state.",
        discussion: """
            Prints the chain: what each source said and how long ago, the flags that mattered, what \
            each switch makes of them, the policy, an override, the verdict, the gate and the \
            attached units. Whoever may not read the stored flags sees what comes after the policy \
            alone.

            Exits with 3 where the state file is out of date, after printing.

            example: killswitchctl explain shop
            """)

    @OptionGroup var common: CommonOptions

    @Option(
        help: ArgumentHelp(
            "The daemon's state directory, where the flags are stored.", valueName: "directory"))
    var stateDirectory: String?

    @Flag(help: "Print JSON.")
    var json = false

    @Argument(help: "The service.", completion: .services)
    var service: ServiceName

    func run() throws {
        let published = try Published(common)
        let state = try published.known(service)
        var report = ExplanationReport(
            state: state, units: try published.units(of: service), now: published.now)
        do {
            let directory = try published.stateDirectory(stateDirectory)
            report.chain = try StoredChain(of: service, in: directory, published).explanation(
                beside: state)
        } catch {
            report.gap = error.message
        }
        print(json ? report.json.serialized(.pretty) : report.text)
        guard report.isCurrent else {
            throw CommandFailure(.undecided, published.isOutOfDate(service))
        }
    }
}
