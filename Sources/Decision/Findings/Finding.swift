package import CivilTime
package import JSON

/// Something that is wrong now: what, with which service, unit or source, since when, and what to do. Every surface
/// prints from it, and a line of the log is one that came or is over.
package struct Finding: Hashable, Sendable {
    package let subject: Subject
    package let kind: Kind
    /// Tells findings of one kind and subject from each other, as the name of a value; empty for the only one.
    package let matter: String
    /// What is wrong, as a clause about the subject.
    package let text: String
    /// When the daemon first saw it; nil where nobody looks all the time.
    package internal(set) var since: Boottime?
    /// Whether monitoring is told: not of a single failed fetch, or of a unit that is about to be as wanted.
    package let isAlarm: Bool
    /// Who has to act on it.
    package let level: LogMessage.Level
    /// Whether the log has lines about it: not where another line says the same.
    let isLogged: Bool
    private let ownAdvice: String?

    /// A finding. Without an `advice` or a `level` of its own it has that of its kind.
    package init(
        _ subject: Subject, _ kind: Kind, _ text: String, matter: String = "",
        isAlarm: Bool = true, isLogged: Bool = true, level: LogMessage.Level? = nil,
        advice: String? = nil
    ) {
        self.isLogged = isLogged
        ownAdvice = advice
        self.subject = subject
        self.kind = kind
        self.matter = matter
        self.text = text
        self.isAlarm = isAlarm
        self.level = level ?? kind.row.level
    }

    /// The thing in which something is wrong.
    package enum Subject: Hashable, Sendable {
        /// The host, or the daemon itself.
        case host
        case service(ServiceName)
        /// A unit that is attached to these services.
        case unit(UnitName, of: [ServiceName])
        case source(SourceName)
    }

    /// What makes it the same finding as before, whatever its words are.
    struct Identity: Hashable {
        let subject: Subject
        let kind: Kind
        let matter: String
    }

    var identity: Identity { Identity(subject: subject, kind: kind, matter: matter) }

    /// The whole line: the subject and what is wrong with it.
    package var sentence: String { subject.prefix + text }

    /// What to do about it, as a clause.
    package var advice: String { ownAdvice ?? kind.advice(about: subject) }

    /// When it began, by the wall clock of now.
    package func since(at now: Now) -> Instant? { since.map { now.wall - (now.boot - $0) } }

    /// That these units are attached to a service whose gate nobody moves, as a clause about the service.
    package static func orphans(_ units: Set<UnitName>) -> String {
        let shown = units.sorted().prefix(8).map(\.text)
        return
            "the service is not configured or has 'enforce = false', and units are attached to it: "
            + shown.andMore(of: units.count).joined(separator: ", ")
            + "; its gate stays as it is, and nobody can start them while it is closed"
    }

    /// That units stay attached that the configuration lists no longer.
    package static func unlisted(_ units: Set<UnitName>) -> String {
        let shown = units.sorted().prefix(8).map(\.text)
        return
            "the configuration lists them no longer, and they stay attached because the gate is not open: "
            + shown.andMore(of: units.count).joined(separator: ", ")
    }
}

extension Finding.Subject {
    package var services: [ServiceName] {
        switch self {
        case .host, .source: []
        case .service(let name): [name]
        case .unit(_, let services): services
        }
    }

    package var unit: UnitName? { if case .unit(let name, _) = self { name } else { nil } }

    package var source: SourceName? { if case .source(let name) = self { name } else { nil } }

    fileprivate var prefix: String {
        switch self {
        case .host: ""
        case .service(let name): "\(name): "
        case .unit(let unit, let services):
            "unit '\(unit)' of \(services.map { "'\($0)'" }.joined(separator: ", ")): "
        case .source(let name): "source '\(name)': "
        }
    }
}

extension Finding {
    /// The object of `host.json`, and of the commands with `--json`.
    package func json(at now: Now) -> JSON.Object {
        [
            "kind": .string(kind.rawValue),
            "services": .strings(subject.services.map(\.text)),
            "source": .optional(subject.source?.text),
            "unit": .optional(subject.unit?.text),
            "since": .optional(since(at: now).map(Zone.utc.rfc3339)),
            "text": .string(sentence),
            "advice": .string(advice),
            "alarm": .bool(isAlarm),
            "disarms": .bool(kind.row.disarms),
        ]
    }
}
