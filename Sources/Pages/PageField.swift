import CivilTime
import Decision
import JSON

/// What a template can show of a record: a field's name, and its text, which is not escaped, and nil without a value.
struct PageField: Hashable, Sendable {
    let name: String
    let text: @Sendable (PageFacts) -> String?

    private init(_ name: String, _ text: @escaping @Sendable (PageFacts) -> String?) {
        (self.name, self.text) = (name, text)
    }

    /// The field of this name in a template; nil if there is none.
    init?(_ name: String) {
        if let known = Self.known.first(where: { $0.name == name }) {
            self = known
        } else if name.hasPrefix(Self.valuePrefix) {
            let value = String(name.dropFirst(Self.valuePrefix.count))
            self.init(name) { $0.value(of: value) }
        } else {
            return nil
        }
    }

    /// The name of the remote value that it shows; nil for another field.
    var valueName: String? {
        name.hasPrefix(Self.valuePrefix) ? String(name.dropFirst(Self.valuePrefix.count)) : nil
    }

    static var names: [String] { known.map(\.name) + ["\(valuePrefix)NAME"] }

    private static let valuePrefix = "values."

    /// The fields that every service has, and the facts that a page shows as they are published.
    private static let known: [PageField] =
        [
            PageField("lang") { $0.language.rawValue },
            PageField("service") { $0.service.name.text },
            PageField("state") { $0.verdict.state.rawValue },
            PageField("starting") { $0.text($0.state == .undecided) },
            PageField("running") { $0.text($0.state == .running) },
            PageField("countdown") { $0.text($0.state == .countdown) },
            PageField("maintenance") { $0.text($0.state == .maintenance) },
            PageField("update_required") { $0.text($0.state == .updateRequired) },
            PageField("ended") { $0.text($0.state == .ended) },
            PageField("open") { $0.text($0.verdict.gate == .open && !$0.isStarting) },
            PageField("closed") { $0.text($0.verdict.gate == .closed) },
            PageField("heading") { $0.heading },
            PageField("text") { $0.message },
            PageField("title") { $0.title },
            PageField("message") { $0.ownMessage },
            PageField("days_left") { $0.verdict.daysLeft.map(String.init) },
            PageField("days_text") { facts in
                guard facts.state == .countdown else { return nil }
                return facts.verdict.daysLeft.map(facts.language.phrases.days)
            },
            PageField("ends_at") { $0.end.map($0.service.zone.rfc3339) },
            PageField("ends_label") { facts in
                facts.end.map { _ in facts.language.phrases.endLabel(of: facts.state) }
            },
            PageField("ends_text") { facts in
                facts.end.map { facts.language.text(of: $0, in: facts.service.zone) }
            },
            PageField("refresh") { $0.refresh.map { String($0) } },
            PageField("refresh_text") { facts in
                facts.refresh.map { _ in facts.language.phrases.refresh }
            },
        ]
        + PublishedFacts.fields(on: .page).map { fact in PageField(fact.name) { $0.text(of: fact) }
        }

    static func == (left: PageField, right: PageField) -> Bool { left.name == right.name }

    func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// What a page says of one record: the texts for the fields of a template.
struct PageFacts {
    let record: PublishedVerdict
    let service: Service
    let language: Language
    /// Whether the gate opens, and its units are not up yet: the page says no more than that.
    let isStarting: Bool

    /// The texts of the flags say why the gate was closed: they are over while the service starts.
    fileprivate func text(of fact: PublishedFacts.Field) -> String? {
        var record = record
        if isStarting { record.verdict.texts = Texts() }
        let value = fact.value(in: PublishedFacts(record, of: service.name))
        return present(value.text(in: service.zone))
    }

    /// The remote value of this name; nil also for `false`.
    fileprivate func value(of name: String) -> String? {
        verdict.values[name].flatMap { $0 == false ? nil : present($0.bare) }
    }

    fileprivate func text(_ isSo: Bool) -> String? { isSo ? "true" : nil }

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

    /// After how many seconds a page loads itself again: as `retrySeconds`, but a page with more to say can be read.
    fileprivate var refresh: Int64? { retrySeconds.map { isStarting ? $0 : max($0, 30) } }

    /// The state that the page shows.
    fileprivate var state: State { isStarting ? .undecided : verdict.state }

    /// The texts of the flags.
    fileprivate var title: String? { isStarting ? nil : present(verdict.texts.title) }
    fileprivate var ownMessage: String? { isStarting ? nil : present(verdict.texts.message) }

    /// The announced end of the service, or of the window that closes it.
    fileprivate var end: Instant? { isStarting ? nil : verdict.endsAt ?? verdict.plannedEnd }

    fileprivate var verdict: Verdict { record.verdict }

    private func present(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }
}

extension Verdict {
    /// When the window ends that closes the service; nil if none does.
    var plannedEnd: Instant? {
        guard case .window(_, let until) = reason, state == .maintenance else { return nil }
        return until.instant
    }
}

extension PublishedVerdict {
    /// How many seconds a client should wait: what the flags ask for, else the time until the planned end, at most five
    /// minutes, because a later client gets the same file. Nil while the gate is open.
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
