import CivilTime
import Configuration
import Decision
import Files
import JSON

/// How long ago a service with `drill_every` was drilled, and which of its units no drill has stopped. Nobody should
/// learn in an incident that a switch was never tried.
struct DrillNotice {
    private let service: String
    private let every: Duration
    /// The time since the last good drill; nil if there was none.
    private let age: Duration?
    /// The attached units that no drill has stopped; empty if no drill has told.
    private let untried: [String]

    /// By the `drill` of a service in `host.json`, and the attached units. Nil for a service that asks for no drills.
    init?(_ drill: JSON.Object?, of name: ServiceName, units: [JSON.Object], at now: Instant) {
        guard let drill, let seconds = drill["every"]?.number?.int64 else { return nil }
        service = name.text
        every = .seconds(seconds)
        age = Instant(argument: drill.text("last_good")).map { max(.zero, now - $0) }
        let stopped = drill["stopped"] == .null ? nil : Set(drill.strings("stopped"))
        untried =
            stopped.map { known in
                units.map { $0.text("name") }.filter { !known.contains($0) }.sorted()
            } ?? []
    }

    private var isOverdue: Bool { age.map { $0 > every } ?? true }

    /// For a column of `status`.
    var cell: String {
        let word = age.map(\.rough) ?? "never"
        return isOverdue && age != nil ? "\(word) late" : word
    }

    /// What a person should know; nil if the drills are as recent as asked, and have stopped each unit.
    var line: String? {
        guard isOverdue || !untried.isEmpty else { return nil }
        let last =
            age.map { "the last good drill of '\(service)' was \($0.rough) ago" }
            ?? "'\(service)' never had a good drill"
        if untried.isEmpty { return last }
        let names = untried.prefix(4).map { $0 }.andMore(of: untried.count)
        return "\(last); no drill has stopped \(untried.count) of its units: "
            + names.joined(separator: ", ")
    }

    // MARK: - On a terminal

    private static let mostLines = 3

    /// Tells a person at a terminal of the drills of these services, or of all. A script hears nothing, and no order
    /// depends on it.
    static func show(about services: [ServiceName]? = nil, in published: PublishedFiles) {
        guard Terminal.isErrorShown, services?.isEmpty != true else { return }
        let drills = PublishedHost(of: published).drills.sorted { $0.key < $1.key }
        let lines = drills.compactMap { name, drill -> String? in
            guard drill["every"] != .null, services?.contains(name) ?? true else { return nil }
            let units = readable { try published.units(of: name) } ?? []
            return DrillNotice(drill, of: name, units: units, at: published.now)?.line
        }
        for line in lines.prefix(mostLines) { printError(line) }
        if lines.count > mostLines {
            printError("\(lines.count - mostLines) more services were not drilled as they ask for")
        }
    }

    /// The same, by the options of a command.
    static func show(about services: [ServiceName]? = nil, in options: CommonOptions) {
        guard Terminal.isErrorShown else { return }
        do { show(about: services, in: try PublishedFiles(options)) } catch {}
    }
}
