import CivilTime
import Configuration
import Decision
import EventLoop
import Files
import Gates
import Glibc
import Guards
import HTTP
import JSON
import Requests
import Storage
import SystemdUnits

/// What a service would be, and what of it would take force on this host.
struct PlannedService {
    let service: Service
    /// The verdict at the start, and each change of it.
    let records: [PublishedVerdict]
    /// The lines that the daemon would log.
    let notices: [LogMessage]
    /// The state of the service on this host; nil if it is not known.
    let present: PublishedState?
    /// The units that stop when it closes.
    let units: [PlannedUnit]
    /// What is assumed of the sources; nil if they go on confirming their flags.
    let assumption: String?
    /// What would hold or delay the order, a clause each.
    private(set) var holds: [String] = []
    /// How old its last good drill is; nil if nothing would stop, or that is not known.
    let drill: String?
    private let guardName: GuardName?
    private let asksGuard: Bool

    init(
        _ service: Service, of subject: PlanSubject, _ command: PlanCommand, at start: Instant
    ) throws {
        self.service = service
        let installed = try Self.installed(service)
        var simulation = Simulation(
            service, sources: subject.plan.sources(of: service), answers: subject.answers,
            before: subject.before, installed: installed, on: command.place,
            within: subject.plan.slots, at: start,
            isSilent: command.configured.silent != nil)
        records = simulation.records(until: command.end(at: start))
        notices = simulation.notices
        assumption = command.configured.silent.map {
            "no source answers for \($0.duration.text); max_stale is "
                + (service.policy.maxStale?.text ?? "never")
        }
        let published = subject.published
        present = published.flatMap { files in readable { try files.state(of: service.name) } ?? nil
        }
        let host = published.map { PublishedHost(of: $0, about: [service.name]) }
        let names = (subject.settings?.heldUnits[service.name] ?? []).filter { $0.kind == .open }
            .map(\.name)
        let closes = records.contains { $0.verdict.gate == .closed } && present?.gate != .closed
        let times =
            closes && !names.isEmpty
            ? published.map { StopTimes(of: service.name, in: $0) } : nil
        units = closes ? names.map { PlannedUnit(name: $0, times: times) } : []
        drill = units.isEmpty ? nil : Self.words(of: host, service.name)
        guardName = subject.settings?.guardNames[service.name]
        let hasSteps = subject.rollout(of: service) != nil
        let opens = present?.gate == .closed && records.contains { $0.verdict.gate == .open }
        asksGuard = guardName != nil && (hasSteps || opens && service.policy.openSpread > .zero)
        addHolds(closes: closes, opens: opens)
    }

    private static func installed(_ service: Service) throws -> Version? {
        guard case .file(let path) = service.installed else { return nil }
        do {
            return try VersionFile.version(in: path)
        } catch {
            throw CommandFailure("installed_version_file: \(error)")
        }
    }

    private static func words(of host: PublishedHost?, _ service: ServiceName) -> String? {
        guard let host, host.absence == nil else { return nil }
        let last = Instant(argument: host.drills[service]?.text("last_good") ?? "")
        return last.map {
            "the last good drill was \(max(.zero, EventLoop.wallClock - $0).rough) ago"
        }
            ?? "it never had a good drill on this host"
    }

    /// Whether the daemon would have such a finding.
    func has(_ kind: Finding.Kind) -> Bool {
        notices.contains { if case .came(let finding) = $0 { finding.kind == kind } else { false } }
    }

    /// Why hosts refuse a document that can be read, beside the flags that they have; nil if they do not.
    var refusal: String? {
        records.first.flatMap { record in
            record.verdict.reason.slug == .invalidAnswer ? record.verdict.reason.sentence : nil
        }
    }

    /// Whether hosts refuse a document.
    var isRefused: Bool { has(.invalidAnswer) || refusal != nil }

    /// The verdicts to show: those of a document that is refused would not be those of a host, which has flags.
    var shown: [PublishedVerdict] { isRefused ? [] : records }

    /// The first verdict that closes; nil if none does.
    var closing: PublishedVerdict? { records.first { $0.verdict.gate == .closed } }

    /// Whether it would close at once, as far as the present state is known.
    var closesAtOnce: Bool {
        records.first?.verdict.gate == .closed && present?.gate != .closed
    }

    /// Whether it is known to open at once.
    var opensAtOnce: Bool {
        records.first?.verdict.gate == .open && present?.gate == .closed
    }

    private mutating func addHolds(closes: Bool, opens: Bool) {
        if !service.isEnforced {
            holds.append("enforce = false: it is decided and told, and nothing is moved")
        }
        if let order = present?.object["override"]?.object {
            holds.append(
                "an order of \(quoted(order.text("author"))) comes first until \(order.end): 'killswitchctl "
                    + "release \(service.name)' ends it")
        }
        if service.activation == .nextStart {
            holds.append(
                "it takes force at the next start, or by 'killswitchctl activate \(service.name)'")
        }
        let policy = service.policy
        if closes, policy.confirmClose > 1 {
            holds.append(
                "it closes when \(policy.confirmClose) answers in a row say so (confirm_close)")
        }
        if opens, policy.confirmOpen > 1 {
            holds.append(
                "it opens when \(policy.confirmOpen) answers in a row say so (confirm_open)")
        }
        if closes, policy.drain > .zero, !units.isEmpty {
            holds.append("its units run on for \(policy.drain.text) (drain)")
        }
        if opens, policy.openSpread > .zero {
            holds.append(
                "hosts open one after the other over \(policy.openSpread.text) (open_spread)")
        }
        if let guardName, asksGuard {
            holds.append("guard '\(guardName)' is asked before each step of this host")
        }
    }
}

extension Plan {
    /// The sources that a service uses.
    func sources(of service: Service) -> [SourcePlan] {
        knownSources.filter { source in service.switches.contains { $0.source == source.name } }
    }
}

extension [PlannedService] {
    /// Adds what the host guard would hold.
    mutating func holdTogether(by limits: GuardLimits) {
        let closing = indices.filter { self[$0].closesAtOnce }
        guard let most = limits.count, closing.count > most else { return }
        for index in closing {
            self[index].hold(
                "close_at_once = \(most), and \(closing.count) services would close at once: those beyond it hold "
                    + "until 'killswitchctl confirm'")
        }
    }

    /// Asks the guards of these services, each once, and adds what they answer.
    mutating func askGuards(of subject: PlanSubject) throws {
        let names = Set(compactMap(\.guardToAsk))
        guard let settings = subject.settings, !names.isEmpty else { return }
        let loop = try EventLoop()
        let environment = HostEnvironment(
            credentialsDirectory: environmentVariable("CREDENTIALS_DIRECTORY"), user: geteuid(),
            userAgent: WebClient.agent.value, stateDirectory: "")
        var answers: [GuardName: GuardAnswer] = [:]
        let asker = GuardAsker(environment, client: { try HTTPClient(loop) }) { answers[$0] = $1 }
        asker.configure(settings.guards)
        for name in names.sorted() { asker.ask(name) }
        while answers.count < names.count { try loop.runOnce(.seconds(1)) }
        for index in indices {
            guard let name = self[index].guardToAsk, let answer = answers[name] else { continue }
            switch answer {
            case .passes: self[index].hold("guard '\(name)' passes now")
            case .holds(let cause): self[index].hold("guard '\(name)' does not pass now: \(cause)")
            }
        }
    }
}

extension PlannedService {
    fileprivate var guardToAsk: GuardName? { asksGuard ? guardName : nil }

    fileprivate mutating func hold(_ clause: String) { holds.append(clause) }
}
