import ArgumentParser
import Decision
import JSON

/// `killswitchctl watch [SERVICE…]`
struct WatchServices: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print a line for each change of a service.",
        discussion: """
            Begins with what is so now, and goes on until it is stopped. A line comes with each \
            change of state, reason, days left or text, and when a state file is out of date. \
            Services that are added later are watched too, unless some are named.

            example: killswitchctl watch --json | while read -r line; do notify "$line"; done
            """)

    @OptionGroup var common: CommonOptions

    @Flag(help: "Print state.json of the service in one line, with 'current'.")
    var json = false

    @Argument(help: "The services; all of them when none is named.", completion: .services)
    var services: [ServiceName] = []

    func run() throws {
        let published = try Published(common)
        try Watching(services, in: published) { change in
            printNow(json ? change.json.serialized(.compact) : change.line)
        }.run()
    }
}
