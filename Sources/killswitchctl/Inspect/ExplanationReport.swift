import CivilTime
import Configuration
import Decision
import JSON
import Storage

/// The output of `explain`: the published verdict, and the chain of decisions that led to it.
struct ExplanationReport {
    let state: PublishedState
    let gate: ShownGate
    let units: [JSON.Object]
    /// The time for what is ahead.
    let now: Instant
    let isCurrent: Bool
    /// What is wrong with the service and its sources, by the daemon or by the files.
    let problems: [ProblemLine]
    /// The sources of the service, by `host.json`, and whether one has confirmed flags in this boot.
    let sources: [JSON.Object]
    let isConfirmed: (String) -> Bool
    var isDaemonThere: Bool
    /// The chain by the daemon; nil if it does not show it, for this reason.
    var chain: ExplanationForm?
    var gap: String?

    var text: String {
        var lines = LabelledLines()
        if let chain {
            for line in chain.lines { lines.add(line.label, line.text) }
        } else {
            lines.add("switches", "not shown: \(gap ?? "")")
        }
        for source in sources { lines.add("source", words(of: source)) }
        lines.add("override", override ?? "none")
        lines.add("verdict", state.summary + (isCurrent ? "" : " (out of date)"))
        lines.add("  since", text(of: "since"))
        lines.add(
            "  why",
            text(of: "reason").map { "\($0): \(text(of: "reason_text", limit: 400) ?? "")" })
        let authors = state.object.strings("author")
        lines.add("  author", authors.isEmpty ? nil : authors.joined(separator: ", "))
        for field in PublishedFacts.fields(on: .explain) {
            lines.add("  \(field.name)", text(of: field.name))
        }
        for (name, value) in state.object.object("values") {
            lines.add("  values.\(name)", value.serialized(.compact).printable(limit: 100))
        }
        lines.add("until", until)
        let (here, everywhere) = toChange
        lines.add(isClosed ? "open it" : "close it", "here: \(here)")
        lines.add("", everywhere.map { "everywhere: \($0)" })
        // The problems of units stand beside the units.
        for problem in problems where !problem.isOfUnit {
            lines.add("problem", problem.line(at: now))
            lines.add("  to do", problem.advice)
        }
        lines.add("gate", gate.words ?? (gate.decided == nil ? "none" : "not known"))
        lines.add("", gate.isHeldUp ? gate.problem : nil)
        if units.isEmpty { lines.add("units", "none") }
        for (index, unit) in units.enumerated() {
            lines.add(index == 0 ? "units" : "", status(of: unit))
        }
        return lines.text
    }

    /// A source with its type, its address as far as everybody may see it, and the last change of its flags.
    private func words(of source: JSON.Object) -> String {
        let addresses = source.strings("addresses").map { " at \($0)" }.joined(separator: ",")
        let interval = source["interval_ms"]?.number?.int64.map { Duration.milliseconds($0) }
        let changed = Instant(argument: source.text("changed_at")).map { time in
            "; its flags changed \(max(.zero, now - time).rough) ago"
        }
        // host.json is written a moment after the files of services.
        let isSilent = !isConfirmed(source.text("source"))
        let people = source.strings("changed_by").map { "'\($0)'" }.joined(separator: ", ")
        return "'\(source.text("source"))', \(source.text("type"))\(addresses)"
            + (interval.map { ", asked every \($0.text)" } ?? "")
            + (changed ?? (isSilent ? "; it has given no flags" : ""))
            + (people.isEmpty ? "" : ", signed by \(people)")
    }

    // MARK: - How it goes on

    private var isClosed: Bool { state.gate == .closed }

    /// Until when the gate stays closed, or that nobody has said.
    private var until: String? {
        guard isClosed else { return nil }
        if let override = state.object["override"]?.object {
            let end = override["until"]?.string ?? "somebody releases the order"
            return gateOfFlags == .closed ? "\(end); then its flags keep it closed" : end
        }
        switch Reason.Slug(rawValue: state.reason) {
        case .window, .minClosed, .reopening:
            // The reason is a sentence with one time.
            let words = state.object.text("reason_text").split(separator: " ").map(String.init)
            return words.first { Instant(argument: $0) != nil } ?? "see above"
        case .versionTooOld: return "a newer version is installed"
        case .staleClosed, .staleEnded, .expiredClosed, .expiredEnded, .unprovedClosed,
            .unprovedEnded,
            .unknownClosed, .unreadableClosed:
            return "source '\(state.object.text("source"))' gives flags that count"
        default: return "nobody has said"
        }
    }

    /// The commands that change the gate: on this host, and on all that read these flags.
    private var toChange: (here: String, everywhere: String?) {
        let service = state.object.text("service")
        let verb = isClosed ? "open" : "close"
        let command = "killswitchctl \(verb) \(service)"
        guard isDaemonThere else {
            return isClosed
                ? ("\(command) --without-daemon", nil)
                : ("systemctl start killswitchd, then \(command)", nil)
        }
        let everywhere = "publish flags that \(verb) it\(place.map { " at \($0)" } ?? "")"
        if state.object["override"] != .null {
            let release = "killswitchctl release \(service), then the flags"
            let here =
                switch gateOfFlags {
                case nil: "\(release) decide; or \(command)"
                case state.gate: command
                default: "\(release) \(verb) it; or \(command)"
                }
            return (here, "\(everywhere); the order of this host comes before them")
        }
        if isClosed, Reason.Slug(rawValue: state.reason) == .versionTooOld {
            return (command, "install the version that the flags require")
        }
        return (command, everywhere)
    }

    private var views: [JSON.Object] { chain?.switches.array?.compactMap(\.object) ?? [] }

    /// The gate that the flags ask for, also behind an order; nil if that is not known.
    private var gateOfFlags: Gate? {
        let gates = views.map { $0["gate"]?.string.flatMap(Gate.init) }
        return gates.isEmpty || gates.contains(nil)
            ? nil : gates.contains(.closed) ? .closed : .open
    }

    /// Where the flags come from that decide, or of the only switch; nil if this user may not know.
    private var place: String? {
        let view =
            views.first { $0["decides"]?.bool == true } ?? (views.count == 1 ? views[0] : nil)
        let places = view?.strings("addresses") ?? []
        if !places.isEmpty { return places.joined(separator: ", ").printable(limit: 300) }
        let source = sources.first { $0.text("source") == state.object.text("source") }
        let known = source?.strings("addresses") ?? []
        return known.isEmpty ? nil : known.joined(separator: ", ").printable(limit: 300)
    }

    /// A unit's state, the state that the gate wants, and its problem.
    private func status(of unit: JSON.Object) -> String {
        let keepers = unit.strings("held_by").map { " by '\($0)'" }.joined(separator: " and")
        let wanted =
            unit["wanted"]?.bool.map { $0 ? ", wanted up" : ", wanted down" + keepers } ?? ""
        let problem = unit["problem"]?.string.map { ": \($0.printable(limit: 400))" } ?? ""
        return "\(unit.text("name")): \(unit["active"]?.string ?? "not known")\(wanted)"
            .printable(limit: 100) + problem
    }

    private func text(of key: String, limit: Int = 100) -> String? {
        state.object[key]?.string.map { $0.printable(limit: limit) }
    }

    private var override: String? {
        guard let override = state.object["override"]?.object else { return nil }
        let words = ["state", "author", "reason"].map { override.text($0).printable(limit: 100) }
        return "\(words[0]) by '\(words[1])' until \(override.end.printable): '\(words[2])'"
    }

    /// The object for programs. Without the daemon's word `switches` is null and `gap` says why.
    var json: JSON.Value {
        .object([
            "service": state.object["service"] ?? .null,
            "current": .bool(isCurrent),
            "switches": chain?.switches ?? .null, "gap": .optional(gap),
            "verdict": .object(state.object), "gate": gate.json,
            "sources": .objects(sources), "until": .optional(until),
            "to_change_here": .string(toChange.here),
            "to_change_everywhere": .optional(toChange.everywhere),
            "units": .objects(units), "problems": .objects(problems.map(\.object)),
            "runbook": .optional(chain?.lines.first { $0.label == "runbook" }?.text),
        ])
    }
}
