import CivilTime
import Decision
import JSON

enum TranscriptFormat {
    /// An event with its effects, a line each.
    static func text(of event: Event, _ effects: [Effect], since now: Now) -> String {
        ([line(event)] + lines(of: effects, after: event, since: now).map { "    \($0)" })
            .joined(separator: "\n") + "\n"
    }

    /// The effects of an event, a line each. The flags that are stored follow unless they are those of the event.
    static func lines(of effects: [Effect], after event: Event, since now: Now) -> [String] {
        var lines: [String] = []
        var start = ""
        for (position, effect) in effects.enumerated() {
            if position + 1 < effects.count, isSaid(effect, with: effects[position + 1]) {
                start = "remember and "
            } else {
                lines.append(start + line(effect, after: event, since: now))
                start = ""
            }
        }
        return lines
    }

    private static func line(_ effect: Effect, after event: Event, since now: Now) -> String {
        if case .fetchEnded(let source, .answer(let answer), _, _) = event,
            case .storeFlags(source, let stored) = effect,
            stored.map(line) == [line(answer)], stored.map(\.validators) == [answer.validators]
        {
            return "store \(source)"
        }
        return line(effect, since: now)
    }

    /// Whether the ledger that is stored has nothing but the record that is published next.
    private static func isSaid(_ effect: Effect, with next: Effect) -> Bool {
        guard case .storeLedger(let ledger) = effect,
            case .publish(let service, let record) = next,
            ledger.entries.count == 1, let entry = ledger.entries[service.name]
        else { return false }
        return entry.state == record.verdict.state && entry.generation == record.generation
    }

    /// The events that tests in Swift compare. Transcripts have words for all others too: see `Event.init(_:at:)`.
    private static func line(_ event: Event) -> String {
        switch event {
        case .woke: "woke"
        case .clockStepped: "clock stepped"
        case .fetchEnded(let source, .unchanged, _, _): "\(source) unchanged"
        default: "…"
        }
    }

    private static func line(_ effect: Effect, since now: Now) -> String {
        switch effect {
        case .fetch(let source, let validators, let mirror):
            "fetch \(source)" + (mirror.map { " from \($0)" } ?? "")
                + (validators.etag.map { " if not \($0)" } ?? "")
        case .storeFlags(let source, let answers):
            "store \(source): \(list(answers.map(line)))"
        case .storeVersion(let source, let version): "raise \(source) to \(version.number)"
        case .dropVersion(let source): "drop the version of \(source)"
        case .reserveVersion(let source): "reserve a version of \(source)"
        case .readVersion(let source): "read the version of \(source)"
        case .readAgain(let records): "read again \(records.count)"
        case .setAside(let record): "set \(record) aside"
        case .forget(let source): "forget \(source)"
        case .markConfirmed(let source): "confirm \(source)"
        case .storeLedger(let ledger):
            "remember "
                + ledger.entries.sorted { $0.key < $1.key }
                .map { "\($0.key)=\($0.value.state.rawValue)#\($0.value.generation)" }
                .joined(separator: " ")
        case .storeOverrides(let overrides):
            "keep "
                + list(
                    overrides.sorted { $0.key < $1.key }
                        .map { "\($0.key)=\($0.value.state.rawValue)" })
        case .publish(let service, let record):
            "publish \(service.name) \(line(record, since: now))"
        case .withdraw(let service): "withdraw \(service)"
        case .stopSource(let source): "drop \(source)"
        case .reject(let service, _, let objection):
            "reject the order for \(service): \(text(objection))"
        case .announce(let service, .notice): "deliver notice \(service)"
        case .announce(let service, .change): "announce change of \(service)"
        case .ask(let name): "ask \(name)"
        case .log(let notice): "log \(notice.level): \(notice.sentence)"
        case .sleep(let wake):
            "sleep" + (wake.boot.map { " \(($0 - now.boot).microseconds / 1_000_000)s" } ?? "")
                + (wake.wall.map { " wall \(Zone.utc.rfc3339($0))" } ?? "")
        }
    }

    private static func line(_ answer: Answer) -> String {
        String(decoding: answer.body, as: UTF8.self)
            + (answer.signed.map { " signed by \($0.authors.joined(separator: ","))" } ?? "")
            + (answer.isInherited ? " inherited" : "")
    }

    private static func list(_ words: [String]) -> String {
        words.isEmpty ? "nothing" : words.joined(separator: " ")
    }

    private static func text(_ objection: OrderObjection) -> String {
        switch objection {
        case .notOpen(let state): "it is \(state.rawValue)"
        case .overridden(let other): "another order is in force: \(other.cause)"
        case .held: "its closing is held"
        case .notConfigured: "it is not configured"
        }
    }

    private static func line(_ record: PublishedVerdict, since now: Now) -> String {
        let verdict = record.verdict
        var words = [
            verdict.state.rawValue, verdict.gate?.rawValue ?? "-", verdict.reason.slug.rawValue,
        ]
        if let days = verdict.daysLeft { words.append("days=\(days)") }
        if let title = verdict.texts.title { words.append("title=\(title)") }
        if let message = verdict.texts.message { words.append("message=\(message)") }
        if let variant = verdict.variant { words.append("variant=\(variant)") }
        if !verdict.isEnforced { words.append("observed") }
        if !verdict.values.isEmpty {
            words.append("values=\(JSON.Value.object(verdict.values).serialized(.compact))")
        }
        if verdict.isStale { words.append("stale") }
        if verdict.override != nil, verdict.reason.slug != .overridden { words.append("override") }
        if !record.notices.isEmpty { words.append("notices=\(record.notices.count)") }
        if let end = record.drainsUntil {
            words.append("drains=\((end - now.boot).microseconds / 1_000_000)s")
        }
        words.append("#\(record.generation)")
        words.append("until \(Zone.utc.rfc3339(record.validUntil))")
        return words.joined(separator: " ")
    }
}
