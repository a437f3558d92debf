import ArgumentParser
import Decision
import Files
import JSON
import Records

/// `killswitchctl units [SERVICE]`
struct Units: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the attached systemd units, and whether each is as it should be.",
        discussion: """
            WANTED is what the gate wants of a unit; a dash means that it only permits it. TOOK is how \
            long its last stop or start took, counted from the move of the gate.

            example: killswitchctl units shop
            """)

    @OptionGroup var common: CommonOptions

    @Flag(help: "Show only units of services that are not configured.")
    var orphans = false

    @Flag(help: "Print JSON.")
    var json = false

    @Argument(help: "The service; all of them when none is named.", completion: .services)
    var service: ServiceName?

    func run() throws {
        let published = try Published(common)
        let own = try AttachedUnits(in: published).rows
            .filter { service == nil || $0.service == service }
        if let service, own.isEmpty { try published.check(service) }
        let rows = own.filter { !orphans || $0.isOrphan }
        if json {
            print(JSON.Value.array(rows.map(\.json)).serialized(.pretty))
        } else if rows.isEmpty {
            printError("killswitchctl: no unit is attached")
        } else {
            print(UnitTable(rows: rows).text)
        }
    }
}
