package import CivilTime

/// What is wrong with a gate, an attached unit or the bus, by the clock since boot. The gates' machine has
/// no other clock; `Overview` makes a `Problem` of it.
package struct GateProblem: Hashable, Sendable {
    package let subject: Problem.Subject
    package let kind: Problem.Kind
    /// What is wrong, as a clause about the subject.
    package let text: String
    package let since: Boottime
    /// Whether an operator has to solve it.
    package let isAlarm: Bool
    /// What an operator can do about it, as a clause; nil for the advice of its kind.
    private let advice: String?

    /// A problem that lasts since `since`.
    package init(
        _ subject: Problem.Subject, _ kind: Problem.Kind, _ text: String, since: Boottime,
        isAlarm: Bool = true, advice: String? = nil
    ) {
        self.subject = subject
        self.kind = kind
        self.text = text
        self.since = since
        self.isAlarm = isAlarm
        self.advice = advice
    }

    /// The same problem by the wall clock.
    func problem(at now: Now) -> Problem {
        Problem(
            subject, kind, text, since: now.wall - (now.boot - since), isAlarm: isAlarm,
            advice: advice)
    }

    /// The line without the time: what a surface prints.
    package var sentence: String {
        Problem(subject, kind, text, since: nil, isAlarm: isAlarm).sentence
    }
}

/// The state of all gates at one moment, for the daemon's status.
package struct GateOverview: Hashable, Sendable {
    /// Whether systemd has answered for every service that is decided, or cannot be reached.
    package var isReady: Bool
    /// The problems: of the bus, then of gates, then of the starts for notices, then of units.
    package let problems: [GateProblem]

    /// The state of gates with these problems.
    package init(isReady: Bool, problems: [GateProblem]) {
        self.isReady = isReady
        self.problems = problems
    }
}
