import Decision
import JSON
import Storage
import _StringProcessing

/// What a monitoring plugin prints, by the guidelines of Monitoring Plugins: one line with performance data behind `|`,
/// and an exit status of 0 (OK), 1 (WARNING), 2 (CRITICAL) or 3 (UNKNOWN). Nagios, Icinga and Checkmk read it.
struct NagiosReport {
    let status: ExitStatus
    let line: String

    /// A problem is critical if its kind is an error, and else a warning.
    init(_ alarms: [ProblemLine], of services: [PublishedState]) {
        let isCritical = alarms.contains { ($0.kind?.row.level ?? .error) == .error }
        status = alarms.isEmpty ? .success : isCritical ? .usage : .no
        let word = alarms.isEmpty ? "OK" : isCritical ? "CRITICAL" : "WARNING"
        let open = services.count { $0.gate == .open }
        let closed = services.count { $0.gate == .closed }
        let text =
            alarms.first.map { first in
                let more = alarms.count > 1 ? " (and \(alarms.count - 1) more)" : ""
                return Self.safe(first.object.text("text")) + more
            } ?? "services: \(services.count), open: \(open), closed: \(closed)"
        let facts = [
            "services=\(services.count);;;0", "open=\(open);;;0", "closed=\(closed);;;0",
            "problems=\(alarms.count);0;;0",
        ]
        let days = services.compactMap { state in
            state.object["days_left"]?.number?.int64.map {
                "'\(state.object.text("service")) days_left'=\($0)"
            }
        }
        line =
            "KILLSWITCH \(word) - \(text) | "
            + (facts + days.prefix(Self.mostDays)).joined(separator: " ")
    }

    /// The answer where nothing could be found out.
    init(unknown problem: String) {
        status = .undecided
        line = "KILLSWITCH UNKNOWN - \(Self.safe(problem))"
    }

    /// Old servers read a line of about 1 KiB.
    private static let mostDays = 16

    /// The text in one line without the character before performance data.
    private static func safe(_ text: String) -> String {
        text.replacing("|", with: "/").printable(limit: 300)
    }
}
