import ArgumentParser
import Configuration
import Decision
import JSON
import Storage

/// `killswitchctl get SERVICE FIELD`
struct Get: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print one field of a service's state.json, bare.",
        discussion: """
            A field that is null prints an empty line. Members of objects are named with dots.

            Exits with 3 if the state file is out of date, after printing the field.

            example: killswitchctl get shop days_left
            """)

    @OptionGroup var common: CommonOptions

    @Flag(help: "Print the field as JSON.") var json = false

    @Argument(help: "The service.", completion: .services, transform: ServiceName.read)
    var service: ServiceName

    @Argument(
        help: "The field, such as state, days_left, ends_at or values.limit.", completion: .fields)
    var field: String

    func run() throws {
        let published = try PublishedFiles(common)
        let state = try published.known(service)
        let value = try find(in: state.object)
        switch value {
        case .null where !json: printLine()
        // A script gets the text as it is; a terminal gets it without what would steer the terminal.
        case .string(let text) where !json:
            if Terminal.isShown { printLines(text) } else { print(text) }
        default: printJSON(value, .compact)
        }
        guard published.isCurrent(state, at: published.now) else {
            throw CommandFailure(.undecided, published.isOutOfDate(service))
        }
    }

    private func find(in object: JSON.Object) throws -> JSON.Value {
        var value: JSON.Value = .object(object)
        for part in field.split(separator: ".", omittingEmptySubsequences: false) {
            guard let member = value.object?[String(part)] else {
                let fields = object.members.map(\.key)
                let hint =
                    nearest(to: field, among: fields).map { "did you mean '\($0)'?" }
                    ?? "there are: \(fields.joined(separator: ", "))"
                throw CommandFailure(.usage, "no such field '\(field)'; \(hint)")
            }
            value = member
        }
        return value
    }
}
