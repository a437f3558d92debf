import CivilTime
import Decision

/// The line that `systemctl status` shows: what is wrong, what was decided, how old the flags are,
/// and when they are asked for next.
struct StatusLine {
    private let lasting: [String]
    private let passing: [String]

    /// `problems` are what is wrong beside the services and the sources: a refused configuration, a
    /// gate that cannot be moved.
    init(_ overview: Overview, problems: [String]) {
        var lasting = problems
        if overview.hasPendingWrites { lasting.append("files cannot be written, see the journal") }
        for source in overview.sources {
            if let problem = source.problem {
                lasting.append("source '\(source.name)': \(problem)")
            }
        }
        self.lasting = lasting + overview.services.map(Self.words)
        passing = overview.sources.map(Self.words)
    }

    var text: String { (lasting + passing).joined(separator: "; ") }

    /// Whether only ages and waits differ, which pass by themselves.
    func says(sameAs other: StatusLine) -> Bool { lasting == other.lasting }

    private static func words(_ service: Overview.ServiceView) -> String {
        guard service.state == .countdown else {
            return "\(service.name): \(service.state.rawValue)"
        }
        let days = service.daysLeft.map { "\($0) \($0 == 1 ? "day" : "days")" } ?? "unknown days"
        return "\(service.name): countdown, \(days) left"
    }

    private static func words(_ source: Overview.SourceView) -> String {
        let age = source.age.map { "flags \(short($0)) old" } ?? "no flags yet"
        let poll = source.nextPoll.map { "next poll in \(short($0))" } ?? "asking now"
        return "\(source.name): \(age), \(poll)"
    }

    /// A duration in its largest unit: 45 s, 12 min, 3 h, 9 d.
    private static func short(_ time: Duration) -> String {
        switch time.wholeSeconds {
        case ..<120: "\(time.wholeSeconds) s"
        case ..<7200: "\(time.wholeSeconds / 60) min"
        case ..<172_800: "\(time.wholeSeconds / 3600) h"
        default: "\(time.wholeSeconds / 86_400) d"
        }
    }
}
