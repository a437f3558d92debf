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
            date is marked: its daemon is not running. UNITS says how many attached units are as they \
            should be, and how long the slowest took to stop or start.

            example: killswitchctl status
            """)

    @OptionGroup var common: CommonOptions

    @Flag(
        help: """
            Print JSON: state.json of each service, with 'age' in seconds, 'current' and the \
            attached 'units'.
            """)
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
                isCurrent: state.isCurrent(at: published.now),
                units: try published.units(of: name))
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
    /// The attached units, as units.json has them.
    let units: [JSON.Object]

    /// How many of the units are as they should be, and how long the slowest took to get there.
    var unitSummary: String {
        guard !units.isEmpty else { return "-" }
        let good = units.filter { $0["problem"] == .null && $0.isAsWanted }.count
        let slowest = units.compactMap { $0["took_ms"]?.number?.int64 }.max()
        return "\(good)/\(units.count)" + (slowest.map { " \($0)ms" } ?? "")
    }

    var json: JSON.Value {
        var object = state.object
        object["age"] = age.map { .number(Number($0.wholeSeconds)) } ?? .null
        object["current"] = .bool(isCurrent)
        object["units"] = .array(units.map { .object($0) })
        return .object(object)
    }
}

extension JSON.Object {
    /// Whether a unit is up or down as its gate wants it; one that is only permitted is either.
    fileprivate var isAsWanted: Bool {
        let active = self["active"]?.string
        return switch self["wanted"] {
        case .bool(true): active == "active"
        case .bool(false): active == "inactive" || active == "failed"
        case nil, .null, .number, .string, .array, .object: true
        }
    }
}
