import CivilTime
import Decision
import JSON
import Records

/// One service as `status` shows it.
struct StatusRow {
    /// When its sources are asked again.
    enum NextPoll: Equatable {
        /// No daemon tells.
        case unknown
        case now
        case after(Duration)
    }

    let service: ServiceName
    let state: PublishedState
    /// Whether the daemon that wrote the state should still be there.
    let isCurrent: Bool
    /// How long ago the source that decided confirmed its flags.
    let age: Duration?
    let nextPoll: NextPoll
    /// The attached units, as units.json has them.
    let units: [JSON.Object]

    init(_ service: ServiceName, in published: Published, _ sources: [SourceAnswer]) throws {
        guard let state = try published.state(of: service) else {
            throw try published.unknown(service)
        }
        let own = sources.filter { $0.services.contains(service.text) }
        let decisive = own.first { $0.name == state.object["source"]?.string }
        self.service = service
        self.state = state
        isCurrent = state.isCurrent(at: published.now)
        age = decisive?.age ?? published.age(of: state)
        nextPoll =
            if own.contains(where: { $0.nextPoll == nil }) { .now } else {
                own.compactMap(\.nextPoll).min().map(NextPoll.after) ?? .unknown
            }
        units = try published.units(of: service)
    }

    /// Who forced it, until when and why; nil where the flags decide.
    var order: String? {
        guard let order = state.object["override"]?.object else { return nil }
        let text = { (key: String) in order[key]?.string ?? "" }
        let words = "forced by \(text("author")) until \(text("until")): \(text("reason"))"
        return "\(service): \(words.printable)"
    }

    /// What is wrong with the units, a line each.
    var troubles: [String] {
        units.compactMap { unit in
            guard let problem = unit["problem"]?.string else { return nil }
            return "unit '\((unit["name"]?.string ?? "").printable)' of '\(service)': "
                + problem.printable
        }
    }

    /// How many of the units are as they should be, and how long the slowest took to get there.
    var unitSummary: String {
        guard !units.isEmpty else { return "-" }
        let good = units.filter { $0["problem"] == .null && $0.isAsWanted }.count
        let slowest = units.compactMap { $0["took_ms"]?.number?.int64 }.max()
        return "\(good)/\(units.count)" + (slowest.map { " \($0)ms" } ?? "")
    }

    /// `state.json`, and what the table shows beyond it.
    var json: JSON.Value {
        var object = state.object
        object["age"] = age.map { .number(Number($0.wholeSeconds)) } ?? .null
        object["next_poll"] =
            switch nextPoll {
            case .unknown: .null
            case .now: 0
            case .after(let wait): .number(Number(wait.wholeSeconds))
            }
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
