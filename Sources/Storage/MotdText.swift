package import CivilTime
package import Decision
import JSON

/// What people who log in are told, in a few lines: closed services, announced ends, windows ahead.
package struct MotdText {
    private var facts: [ServiceName: [Fact]] = [:]

    /// How many lines there are at most, beside the first and the last.
    private static let most = 10

    package init() {}

    /// Updates the lines of a service; `record` is nil if it is gone. Returns whether the text may have changed.
    package mutating func update(
        _ name: ServiceName, _ record: PublishedVerdict?, in zone: Zone
    ) -> Bool {
        let new = record.map { Fact.all(of: name, $0, in: zone) } ?? []
        guard new != facts[name] ?? [] else { return false }
        facts[name] = new.isEmpty ? nil : new
        return true
    }

    /// The text, which ends with a line feed; empty if there is nothing to tell.
    package func text() -> String {
        var counts: [Fact.Kind: Int] = [:]
        var lines: [Fact] = []
        for fact in facts.values.joined() {
            counts[fact.kind, default: 0] += 1
            lines.add(fact, most: Self.most)
        }
        if lines.isEmpty { return "" }
        let words = Fact.Kind.allCases.compactMap { kind in counts[kind].map(kind.words) }
        let heading = "Kill switches: \(words.joined(separator: ", "))"
        let more = counts.values.reduce(0, +) - lines.count
        let end = more > 0 ? ["  ... and \(more) more: type 'killswitchctl status'"] : []
        return ([heading] + lines.map { "  \($0.text)" } + end).joined(separator: "\n") + "\n"
    }
}

/// A fact about one service, which is a line of the text.
private struct Fact: Hashable, Comparable {
    enum Kind: Int, CaseIterable {
        case closed, wouldClose, end, window

        var isOfClosed: Bool { self == .closed || self == .wouldClose }

        func words(_ count: Int) -> String {
            switch self {
            case .closed: "\(count) closed"
            case .wouldClose: "\(count) would be closed"
            case .end: "\(count) \(count == 1 ? "end" : "ends") announced"
            case .window: "\(count) \(count == 1 ? "window" : "windows") of maintenance ahead"
            }
        }
    }

    let service: ServiceName
    let kind: Kind
    /// When it began, or comes.
    let at: ZonedInstant
    let until: ZonedInstant?
    let state: State
    let isEnforced: Bool
    let title: String?

    /// The facts of a record that are worth a line.
    static func all(of service: ServiceName, _ record: PublishedVerdict, in zone: Zone) -> [Fact] {
        let verdict = record.verdict
        let fact = { (kind: Kind, at: Instant, until: Instant?, title: String?) in
            Fact(
                service: service, kind: kind, at: zone.zoned(at), until: until.map(zone.zoned),
                state: verdict.state, isEnforced: verdict.isEnforced, title: title)
        }
        var facts: [Fact] = []
        if verdict.gate == .closed {
            let kind = verdict.isEnforced ? Kind.closed : .wouldClose
            facts.append(fact(kind, record.since, nil, verdict.texts.title))
        } else if verdict.state == .countdown, let end = verdict.endsAt {
            facts.append(fact(.end, end, nil, verdict.texts.title))
        }
        if verdict.state != .ended, let window = record.nextWindow {
            facts.append(fact(.window, window.from, window.until, window.texts.title))
        }
        return facts
    }

    /// Closed services first, the newest of them; then what comes next.
    static func < (left: Fact, right: Fact) -> Bool {
        let isOfClosed = left.kind.isOfClosed
        if isOfClosed != right.kind.isOfClosed { return isOfClosed }
        let (own, other) = (left.at.instant, right.at.instant)
        if own != other { return isOfClosed ? own > other : own < other }
        return (left.service, left.kind.rawValue) < (right.service, right.kind.rawValue)
    }

    /// The line, without the characters that a terminal obeys.
    var text: String {
        let words =
            switch kind {
            case .closed: "is closed (\(state.rawValue)) since \(at)"
            case .wouldClose: "would be closed (\(state.rawValue)) since \(at)"
            case .end: "ends at \(at)"
            case .window: "has maintenance from \(at)" + (until.map { " until \($0)" } ?? "")
            }
        let title = title.flatMap { $0.isEmpty ? nil : ": \($0.printable(limit: 60))" }
        return "\(service) \(words)\(isEnforced ? "" : " ('enforce = false')")\(title ?? "")"
    }
}

extension [Fact] {
    /// Puts a line in its place, and drops the last beyond `most`.
    fileprivate mutating func add(_ line: Fact, most: Int) {
        if count == most, let last, last < line { return }
        insert(line, at: firstIndex { line < $0 } ?? endIndex)
        if count > most { removeLast() }
    }
}
