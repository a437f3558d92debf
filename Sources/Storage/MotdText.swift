package import CivilTime
package import Decision
import JSON

/// What people who log in are told: closed services, announced ends, windows ahead. It has a few lines,
/// however many services there are.
package struct MotdText {
    private var facts: [ServiceName: [Fact]] = [:]

    /// How many lines there are at most, beside the first and the last.
    private static let most = 10

    /// No service has anything to tell.
    package init() {}

    /// Updates the lines of a service to its verdict; nil for a service that is no longer configured. Returns
    /// whether the text may have changed.
    package mutating func update(
        _ name: ServiceName, _ record: PublishedVerdict?, in zone: Zone
    ) -> Bool {
        let new = record.map { Fact.all(of: $0, in: zone) } ?? []
        guard new != facts[name] ?? [] else { return false }
        facts[name] = new.isEmpty ? nil : new
        return true
    }

    /// The text, which ends with a line feed; empty if there is nothing to tell.
    package func text() -> String {
        var counts: [Fact.Kind: Int] = [:]
        var lines: [Line] = []
        for (service, facts) in facts {
            for fact in facts {
                counts[fact.kind, default: 0] += 1
                lines.add(Line(service: service, fact: fact), most: Self.most)
            }
        }
        if lines.isEmpty { return "" }
        let words = Fact.Kind.allCases.compactMap { kind in counts[kind].map(kind.words) }
        let heading = "Kill switches: \(words.joined(separator: ", "))"
        let more = counts.values.reduce(0, +) - lines.count
        let end = more > 0 ? ["  ... and \(more) more: type 'killswitchctl status'"] : []
        return ([heading] + lines.map { "  \($0.text)" } + end).joined(separator: "\n") + "\n"
    }
}

/// A fact about one service.
private struct Fact: Hashable {
    enum Kind: Int, CaseIterable {
        case closed, end, window

        func words(_ count: Int) -> String {
            switch self {
            case .closed: "\(count) closed"
            case .end: "\(count) \(count == 1 ? "end" : "ends") announced"
            case .window: "\(count) \(count == 1 ? "window" : "windows") of maintenance ahead"
            }
        }
    }

    let kind: Kind
    /// When it began, or comes.
    let at: ZonedInstant
    let until: ZonedInstant?
    let state: State
    let title: String?

    /// The facts of a record that are worth a line.
    static func all(of record: PublishedVerdict, in zone: Zone) -> [Fact] {
        let verdict = record.verdict
        let fact = { (kind: Kind, at: Instant, until: Instant?, title: String?) in
            Fact(
                kind: kind, at: zone.zoned(at), until: until.map(zone.zoned), state: verdict.state,
                title: title)
        }
        var facts: [Fact] = []
        if verdict.gate == .closed {
            facts.append(fact(.closed, record.since, nil, verdict.texts.title))
        } else if verdict.state == .countdown, let end = verdict.endsAt {
            facts.append(fact(.end, end, nil, verdict.texts.title))
        }
        if verdict.state != .ended, let window = record.nextWindow {
            facts.append(fact(.window, window.from, window.until, window.texts.title))
        }
        return facts
    }

    var text: String {
        switch kind {
        case .closed: "is closed (\(state.rawValue)) since \(at)"
        case .end: "ends at \(at)"
        case .window: "has maintenance from \(at)" + (until.map { " until \($0)" } ?? "")
        }
    }
}

/// A line of the text.
private struct Line: Comparable {
    let service: ServiceName
    let fact: Fact

    /// Closed services first, the newest of them; then what comes next.
    static func < (left: Line, right: Line) -> Bool {
        if left.isOfClosed != right.isOfClosed { return left.isOfClosed }
        let (own, other) = (left.fact.at.instant, right.fact.at.instant)
        if own != other { return left.isOfClosed ? own > other : own < other }
        return (left.service, left.fact.kind.rawValue) < (right.service, right.fact.kind.rawValue)
    }

    private var isOfClosed: Bool { fact.kind == .closed }

    /// The line, without the characters that a terminal obeys.
    var text: String {
        let title = fact.title.flatMap { $0.isEmpty ? nil : ": \($0.printable(limit: 60))" }
        return "\(service) \(fact.text)\(title ?? "")"
    }
}

extension [Line] {
    /// Puts a line in its place, and drops the last beyond `most`.
    fileprivate mutating func add(_ line: Line, most: Int) {
        if count == most, let last, last < line { return }
        insert(line, at: firstIndex { line < $0 } ?? endIndex)
        if count > most { removeLast() }
    }
}
