package import CivilTime

/// What is wrong with a gate, an attached unit or the bus, by the clock since boot. The gates' machine has
/// no other; `Overview` makes a `Problem` of it.
package struct GateProblem: Hashable, Sendable {
    package let subject: Problem.Subject
    package let kind: Problem.Kind
    /// What is wrong, as a clause about the subject.
    package let text: String
    package let since: Boottime
    /// Whether an operator has to solve it.
    package let isAlarm: Bool
    /// What an operator can do about it, as a clause; nil for the advice of its kind.
    var advice: String?

    /// The bus is not there, or does not answer.
    static func bus(_ text: String, since: Boottime) -> GateProblem {
        GateProblem(
            subject: .host, kind: .bus,
            text: "gates: \(text); no gate is moved until the bus is back",
            since: since, isAlarm: true)
    }

    /// A gate is not where it was decided to be.
    static func gate(_ service: ServiceName, _ text: String, since: Boottime) -> GateProblem {
        GateProblem(
            subject: .service(service), kind: .gate, text: text, since: since, isAlarm: true)
    }

    /// Units are attached to a service that is not configured.
    static func orphans(
        _ units: Set<UnitName>, of service: ServiceName, since: Boottime
    ) -> GateProblem {
        GateProblem(
            subject: .service(service), kind: .unitsOrphaned, text: Problem.orphans(units),
            since: since, isAlarm: true)
    }

    /// The units that pass on notices are not started.
    static func notice(_ service: ServiceName, _ text: String, since: Boottime) -> GateProblem {
        GateProblem(
            subject: .service(service), kind: .notice, text: text, since: since, isAlarm: true)
    }

    /// A unit is not as its gates want it.
    static func unit(
        _ name: UnitName, of services: Set<ServiceName>, _ problem: UnitProblem, since: Boottime
    ) -> GateProblem {
        GateProblem(
            subject: .unit(name, of: services.sorted()), kind: .unit, text: problem.sentence,
            since: since, isAlarm: !problem.passes,
            advice: services.min().map { problem.advice(for: name, of: $0) })
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
