import CivilTime
import Decision
import JSON

enum TranscriptFormat {
    /// An event with its effects, a line each. Two usual ones follow a good answer in brackets: it is stored
    /// before all others, and confirmed after the files are written.
    static func text(of event: Event, _ effects: [Effect], since now: Now) -> String {
        var (effects, done) = (effects, [String]())
        if case .fetchEnded(let source, let outcome, _, _) = event {
            if case .answer(let answer) = outcome,
                case .storeFlags(source, let stored)? = effects.first,
                stored.map(\.body) == [answer.body]
            {
                effects.removeFirst()
                done.append("stored")
            }
            if let position = effects.firstIndex(of: .markConfirmed(source)),
                !effects[position...].contains(where: {
                    if case .publish = $0 { true } else { false }
                })
            {
                effects.remove(at: position)
                done.append("confirmed")
            }
        }
        var text = line(event) + (done.isEmpty ? "" : " (\(done.joined(separator: ", ")))") + "\n"
        for position in effects.indices {
            if position + 1 < effects.count, isSaid(effects[position], with: effects[position + 1])
            {
                text += "    remember and"
            } else {
                text += text.hasSuffix(" and") ? " " : "    "
                text += line(effects[position], since: now) + "\n"
            }
        }
        return text
    }

    /// Whether the ledger that is stored has nothing but the record that is published next.
    private static func isSaid(_ effect: Effect, with next: Effect) -> Bool {
        guard case .storeLedger(let ledger) = effect,
            case .publish(let service, let record) = next,
            ledger.entries.count == 1, let entry = ledger.entries[service.name]
        else { return false }
        return entry.state == record.verdict.state && entry.generation == record.generation
    }

    static func line(_ event: Event) -> String {
        switch event {
        case .started: "started"
        case .woke: "woke"
        case .clockStepped: "clock stepped"
        case .fetchEnded(let source, .answer(let answer), _, _):
            "\(source) answers \(String(decoding: answer.body, as: UTF8.self))"
        case .fetchEnded(let source, .unchanged, _, _): "\(source) unchanged"
        case .fetchEnded(let source, .failure(let failure), _, _):
            "\(source) fails: \(failure.detail)"
        case .hinted(let source): "\(source) hinted"
        case .warningsChanged(let source, let warnings): "\(source) doubted \(warnings)"
        case .watchChanged(let source, let problem): "\(source) unwatched: \(problem ?? "no more")"
        case .signersRead(let source, let problem):
            "\(source) has signers: \(problem ?? "yes")"
        case .versionRead(let source, let memory): "\(source) knows \(memory)"
        case .memoryRead(let memory): "read again: \(memory.problems.values.sorted())"
        case .disproved(let source, let causes):
            "\(source) disproves \(causes.values.sorted())"
        case .writeEnded(let operation, let problem): "\(line(operation)) \(problem ?? "done")"
        case .filesDeleted(let service): "\(service) deleted"
        case .stateDeleted: "state deleted"
        case .confirm(let services, let author):
            "\(author) confirms \(services.map(\.text).joined(separator: " "))"
        case .force(let service, let override, let ifOpen):
            "force \(service) \(override.state.rawValue)\(ifOpen ? " if open" : "")"
        case .release(let service, let author, let cause):
            "\(author) releases \(service)\(cause.map { " from '\($0)'" } ?? "")"
        case .drillEnded(let service, let drill, let author):
            "\(author) has drilled \(service): \(drill.problem ?? "well")"
        case .forget(let source, let author, let cause):
            "\(author) forgets \(source)\(cause.map { " and its version: \($0)" } ?? "")"
        case .guardAnswered(let name, .passes): "\(name) passes"
        case .guardAnswered(let name, .holds(let cause)): "\(name) holds: \(cause)"
        case .activate(let service): "activate \(service?.text ?? "all")"
        case .versionInstalled(let service, let version): "\(service) has \(version)"
        case .reconfigured(_, let replaced, _):
            "reconfigured"
                + replaced.sorted { $0.key < $1.key }
                .map { " \($0.key)=\($0.value == .sameAddress ? "same" : "other")" }.joined()
        case .startupWaitEnded: "patience ended"
        }
    }

    static func line(_ effect: Effect, since now: Now) -> String {
        switch effect {
        case .fetch(let source, let validators, let mirror):
            "fetch \(source)" + (mirror.map { " from \($0)" } ?? "")
                + (validators.etag.map { " if not \($0)" } ?? "")
        case .storeFlags(let source, let answers):
            "store \(source): "
                + answers.map { String(decoding: $0.body, as: UTF8.self) }.joined(separator: " ")
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
                + overrides.sorted { $0.key < $1.key }
                .map { "\($0.key)=\($0.value.state.rawValue)" }.joined(separator: " ")
        case .publish(let service, let record):
            "publish \(service.name) \(line(record))"
        case .withdraw(let service): "withdraw \(service)"
        case .stopSource(let source): "drop \(source)"
        case .reject(let service, _, let objection): "reject the order for \(service): \(objection)"
        case .deliverNotice(let service): "deliver notice \(service)"
        case .ask(let name): "ask \(name)"
        case .log(let notice): "log \(notice.level): \(notice.sentence)"
        case .sleep(let wake):
            "sleep" + (wake.boot.map { " \(($0 - now.boot).microseconds / 1_000_000)s" } ?? "")
                + (wake.wall.map { " wall \(Zone.utc.rfc3339($0))" } ?? "")
        }
    }

    private static func line(_ record: PublishedVerdict) -> String {
        let verdict = record.verdict
        var words = [
            verdict.state.rawValue, verdict.gate?.rawValue ?? "-", verdict.reason.slug.rawValue,
        ]
        if let days = verdict.daysLeft { words.append("days=\(days)") }
        if let title = verdict.texts.title { words.append("title=\(title)") }
        if let message = verdict.texts.message { words.append("message=\(message)") }
        if let variant = verdict.variant { words.append("variant=\(variant)") }
        if !verdict.values.isEmpty {
            words.append("values=\(JSON.Value.object(verdict.values).serialized(.compact))")
        }
        if verdict.isStale { words.append("stale") }
        words.append("#\(record.generation)")
        words.append("until \(Zone.utc.rfc3339(record.validUntil))")
        return words.joined(separator: " ")
    }

    private static func line(_ operation: WriteOperation) -> String {
        switch operation {
        case .storeFlags(let source): "store \(source)"
        case .storeVersion(let source): "raise \(source)"
        case .dropVersion(let source): "drop the version of \(source)"
        case .reserveVersion(let source): "reserve a version of \(source)"
        case .markConfirmed(let source): "confirm \(source)"
        case .storeLedger: "remember"
        case .storeOverrides: "keep"
        case .publish(let service): "publish \(service)"
        }
    }
}
