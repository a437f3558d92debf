import ArgumentParser
import CivilTime
import Decision
import JSON
import Records

/// `killswitchctl status [SERVICE…]`
struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what was decided for each service.",
        discussion: """
            AGE is how long ago the source of the flags last confirmed them. A state that is out of \
            date is marked: its daemon is not running.

            example: killswitchctl status
            """)

    @OptionGroup var common: CommonOptions

    @Flag(help: "Print JSON: state.json of each service, with 'age' in seconds and 'current'.")
    var json = false

    @Argument(help: "The services; all of them when none is named.", completion: .services)
    var services: [ServiceName] = []

    func run() throws {
        let published = try Published(common)
        let names = services.isEmpty ? try published.services() : services
        let rows = try names.map { name in
            let state = try published.known(name)
            return StatusRow(
                service: name, state: state, age: published.age(of: state),
                isCurrent: state.isCurrent(at: published.now))
        }
        let refusal = try published.refusal()
        if json {
            let whole: JSON.Value = .object([
                "services": .array(rows.map(\.json)),
                "configuration": .object([
                    "refused": refusal.map { .string($0) } ?? .null
                ]),
            ])
            print(whole.serialized(.pretty))
            return
        }
        if let refusal {
            printError(
                "killswitchctl: the configuration is refused, the one accepted last is in force:\n"
                    + refusal)
        }
        if rows.isEmpty {
            printError("killswitchctl: no service is known yet in '\(published.directory)'")
        } else {
            print(StatusTable(rows: rows, isColored: Terminal.wantsColor).text)
        }
    }
}

/// One service as `status` shows it.
struct StatusRow {
    let service: ServiceName
    let state: PublishedState
    let age: Duration?
    let isCurrent: Bool

    var json: JSON.Value {
        var object = state.object
        object["age"] = age.map { .number(Number($0.wholeSeconds)) } ?? .null
        object["current"] = .bool(isCurrent)
        return .object(object)
    }
}
