import CivilTime
import Decision
import JSON

/// What a template can show of a record.
enum PageField: Hashable, Sendable {
    case fact(Fact)
    /// The published fact of this name.
    case published(String)
    /// The remote value of this name.
    case value(String)

    /// The fields that every service has. The raw value is the name in a template.
    enum Fact: String, CaseIterable, Sendable {
        case lang
        case service
        case state
        case starting
        case running
        case countdown
        case maintenance
        case updateRequired = "update_required"
        case ended
        case open
        case closed
        case heading
        case text
        case title
        case message
        case daysLeft = "days_left"
        case daysText = "days_text"
        case endsAt = "ends_at"
        case endsLabel = "ends_label"
        case endsText = "ends_text"
        case refresh
        case refreshText = "refresh_text"
    }

    /// The field of this name in a template; nil if there is none.
    init?(_ name: String) {
        if let fact = Fact(rawValue: name) {
            self = .fact(fact)
        } else if Self.published.contains(where: { $0.name == name }) {
            self = .published(name)
        } else if name.hasPrefix(Self.valuePrefix) {
            self = .value(String(name.dropFirst(Self.valuePrefix.count)))
        } else {
            return nil
        }
    }

    /// The names of all fields, for people.
    static var names: [String] {
        Fact.allCases.map(\.rawValue) + published.map(\.name) + ["\(valuePrefix)NAME"]
    }

    /// The facts that a page shows as they are published.
    fileprivate static let published = PublishedFacts.fields(on: .page)

    private static let valuePrefix = "values."
}

/// What a page says of one record: the texts for the fields of a template.
struct PageFacts {
    let record: PublishedVerdict
    let service: Service
    let language: Language
    /// Whether the gate opens, and its units are not up yet: the page says no more than that.
    let isStarting: Bool

    /// The text of a field, not escaped; nil without a value.
    func text(of field: PageField) -> String? {
        switch field {
        case .fact(let fact): text(of: fact)
        case .published(let name): published(name)
        case .value(let name): verdict.values[name].flatMap { $0 == false ? nil : present($0.bare) }
        }
    }

    private func text(of fact: PageField.Fact) -> String? {
        switch fact {
        case .lang: language.rawValue
        case .service: service.name.text
        case .state: verdict.state.rawValue
        case .starting: text(state == .undecided)
        case .running: text(state == .running)
        case .countdown: text(state == .countdown)
        case .maintenance: text(state == .maintenance)
        case .updateRequired: text(state == .updateRequired)
        case .ended: text(state == .ended)
        case .open: text(verdict.gate == .open && !isStarting)
        case .closed: text(verdict.gate == .closed)
        case .heading: heading
        case .text: message
        case .title: title
        case .message: ownMessage
        case .daysLeft: verdict.daysLeft.map(String.init)
        case .daysText:
            state == .countdown ? verdict.daysLeft.map(language.phrases.days) : nil
        case .endsAt: end.map(service.zone.rfc3339)
        case .endsLabel: end.map { _ in language.phrases.endLabel(of: state) }
        case .endsText: end.map { language.text(of: $0, in: service.zone) }
        case .refresh: refresh.map { String($0) }
        case .refreshText: refresh.map { _ in language.phrases.refresh }
        }
    }

    /// The texts of the flags say why the gate was closed: they are over while the service starts.
    private func published(_ name: String) -> String? {
        var record = record
        if isStarting { record.verdict.texts = Texts() }
        let field = PageField.published.first { $0.name == name }
        let value = field?.value(in: PublishedFacts(record, of: service.name))
        return present(value?.text(in: service.zone))
    }

    /// The title of the flags, else the language's heading for the state.
    var heading: String { title ?? language.phrases.of(state).heading }

    /// The message of the flags, else the language's sentence for the state.
    var message: String {
        if let ownMessage { return ownMessage }
        if !isStarting, case .windowAhead(_, let from, let until) = verdict.reason {
            return language.phrases.planned(
                language.text(of: from.instant, in: service.zone),
                language.text(of: until.instant, in: service.zone))
        }
        return language.phrases.of(state).sentence
    }

    /// After how many seconds a client may try again; nil while the gate is open.
    var retrySeconds: Int64? { isStarting ? Self.startingRetry : record.retrySeconds }

    /// The same while the units of an opening gate start.
    static let startingRetry: Int64 = 5

    /// After how many seconds a page loads itself again: as `retrySeconds`, and long enough to be read. Nobody reads
    /// that a service is starting.
    private var refresh: Int64? { retrySeconds.map { isStarting ? $0 : max($0, 30) } }

    /// The state that the page shows.
    private var state: State { isStarting ? .undecided : verdict.state }

    /// The texts of the flags.
    private var title: String? { isStarting ? nil : present(verdict.texts.title) }
    private var ownMessage: String? { isStarting ? nil : present(verdict.texts.message) }

    /// The announced end of the service, or of the window that closes it.
    private var end: Instant? { isStarting ? nil : verdict.endsAt ?? verdict.plannedEnd }

    private var verdict: Verdict { record.verdict }

    private func text(_ isSo: Bool) -> String? { isSo ? "true" : nil }

    private func present(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }
}

extension Verdict {
    /// When the window ends that closes the service; nil if none does.
    var plannedEnd: Instant? {
        guard case .window(_, let until, _) = reason, state == .maintenance else { return nil }
        return until.instant
    }
}

extension PublishedVerdict {
    /// How many seconds a client should wait before it tries again: what the flags ask for, else the time until the
    /// planned end, which is at most five minutes, because the file is the same for a client that comes later.
    /// Nil while the gate is open.
    package var retrySeconds: Int64? {
        guard verdict.gate != .open else { return nil }
        if let wanted = verdict.retryAfter { return min(max(wanted.wholeSeconds, 1), 3_600) }
        switch verdict.state {
        case .undecided: return 30
        case .ended: return 3_600
        case .running, .countdown, .maintenance, .updateRequired:
            guard let end = verdict.plannedEnd else { return 300 }
            return min(max((end - decidedAt).wholeSeconds, 30), 300)
        }
    }
}
