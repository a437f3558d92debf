import CivilTime
package import Decision

/// A line of the log about gates: a finding that came or is over, or an event.
package enum GateLogMessage: Hashable, Sendable {
    case came(Finding)
    case over(Finding)
    /// The gate stands as decided, and each of these units is as it should be after that time; the time of the gate is
    /// nil if nobody has seen all of its move. Other services keep units down that an open gate would start.
    case moved(
        ServiceName, DesiredGate, took: Duration?, units: [UnitName: Duration],
        kept: [UnitName: [ServiceName]] = [:])
    /// Another process has moved the gate; it is put back.
    case movedElsewhere(ServiceName, DesiredGate)
    /// These units of an open gate are not up in their time, and people do not see the page any more.
    case unitsSlow(ServiceName, [UnitName], after: Duration)
    /// The gate has refused so many starts of a unit that were not told yet; the verdict is why, as far as it is
    /// known. `isOver`: the gate is open by now.
    case startsRefused(ServiceName, UnitName, Int, isFirst: Bool, isOver: Bool, by: Verdict?)

    /// Who has to act on it.
    package var level: LogMessage.Level {
        switch self {
        case .came(let finding): LogMessage.came(finding).level
        case .over: .info
        case .moved, .startsRefused: .notice
        case .movedElsewhere, .unitsSlow: .warning
        }
    }

    /// The line: the fact, and its consequence.
    package var sentence: String {
        switch self {
        case .came(let finding): LogMessage.came(finding).sentence
        case .over(let finding): LogMessage.over(finding).sentence
        case .moved(let service, let desired, let took, let units, let kept):
            "\(service): gate \(desired.gate == .open ? "opened" : "closed")"
                + (took.map { " in \($0.inMilliseconds)" } ?? "; how long it took was not seen")
                + Self.list(units, desired.gate) + Self.list(kept)
        case .movedElsewhere(let service, let desired):
            "\(service): somebody else has moved the gate; killswitchd moves it back to "
                + desired.gate.rawValue
        case .unitsSlow(let service, let units, let time):
            "\(service): not up after \(time.wholeSeconds) s: "
                + units.sorted().map(\.text).joined(separator: ", ")
                + "; web servers send requests to the service from now on"
        case .startsRefused(let service, let unit, let count, let isFirst, let isOver, let verdict):
            "\(service): \(Self.starts(count, isFirst)) of unit '\(unit)' refused"
                + (isOver ? " before the gate opened" : ": \(Self.cause(verdict))")
        }
    }

    /// The notice with the verdict of its service, where that is why.
    package func explained(by verdict: (ServiceName) -> Verdict?) -> GateLogMessage {
        guard
            case .startsRefused(let service, let unit, let count, let isFirst, let isOver, nil) =
                self
        else { return self }
        return .startsRefused(
            service, unit, count, isFirst: isFirst, isOver: isOver, by: verdict(service))
    }

    private static func starts(_ count: Int, _ isFirst: Bool) -> String {
        let more = isFirst ? "" : "more "
        return count == 1 ? "\(isFirst ? "a" : "one more") start" : "\(count) \(more)starts"
    }

    private static func cause(_ verdict: Verdict?) -> String {
        verdict.map { "the service is \($0.state.rawValue); \($0.cause)" } ?? "the gate is closed"
    }

    private static func list(_ units: [UnitName: Duration], _ gate: Gate) -> String {
        guard !units.isEmpty else { return "" }
        let order = units.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
        // The slowest units are enough for a line; units.json has all.
        let shown = order.suffix(listed).map { "\($0.key) \($0.value.inMilliseconds)" }
        return "; units \(gate == .open ? "started" : "stopped"): "
            + shown.andMore(of: order.count).joined(separator: ", ")
    }

    private static func list(_ kept: [UnitName: [ServiceName]]) -> String {
        let shown = kept.sorted { $0.key < $1.key }.prefix(listed).map { unit, services in
            "\(unit) stays down because of " + services.map { "'\($0)'" }.joined(separator: ", ")
        }
        return shown.andMore(of: kept.count).map { "; \($0)" }.joined()
    }

    private static let listed = 8
}

extension Duration {
    fileprivate var inMilliseconds: String { "\(microseconds / 1000) ms" }
}
