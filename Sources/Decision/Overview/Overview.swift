package import CivilTime

/// All sources and services at one moment. Each view is computed when it is asked for. Do not keep it: it holds the
/// whole machine.
package struct Overview {
    private let machine: Machine
    package let now: Now
    package let condition: HostCondition

    fileprivate init(_ machine: Machine, _ condition: HostCondition, at now: Now) {
        self.machine = machine
        self.condition = condition
        self.now = now
    }

    /// All that is wrong, the worst first: with the host, gates and units, services, sources.
    package var findings: [Finding] {
        let present = machine.findings.present
        let own = present.filter { $0.subject == .host }
        return own + condition.findings + (condition.gates?.findings ?? [])
            + present.filter { $0.subject != .host }
    }

    /// One service as its record was last published.
    package struct ServiceView: Hashable, Sendable {
        package let name: ServiceName
        /// The record that was published last; nil before the first.
        package let record: PublishedVerdict?
        /// Whether the host guard holds its closing.
        package let isHeld: Bool
        /// The guard that holds its step; nil if none does.
        package let heldBy: GuardName?
        package let drill: LastDrill?
        /// The address of the page that says what to do; nil without one.
        package let runbook: String?
        /// The longest time until its first decision; nil once it is decided.
        package let decidesWithin: Duration?

        package var state: State { record?.verdict.state ?? .undecided }
        package var daysLeft: Int? { record?.verdict.daysLeft }
        /// Whether its verdict is made true.
        package var isEnforced: Bool { record?.verdict.isEnforced ?? true }
    }

    /// One guard that was asked lately, or holds steps.
    package struct GuardView: Hashable, Sendable {
        package let name: GuardName
        package let answer: GuardAnswer
        /// How long ago it answered; nil before the first answer since a reload.
        package let age: Duration?
        /// The time until it is asked again; nil if it is being asked, or no step waits.
        package let next: Duration?
        /// The services whose steps wait for it.
        package let services: [ServiceName]
    }

    /// One source.
    package struct SourceView: Hashable, Sendable {
        package let name: SourceName
        /// How long ago the source confirmed its flags; nil if it never did.
        package let age: Duration?
        /// When the source confirmed its flags; nil if it never did.
        package let confirmedAt: Instant?
        /// Whether it has answered since the start, and its last fetch was good.
        package let isUp: Bool
        /// The time between two polls at present: its interval, or more where its flags ask for that.
        package let interval: Duration
        package let fetches: FetchCounts
        /// When the newest flags were fetched that are in force or staged.
        package let fetchedAt: Instant?
        /// Who has signed them; empty where nobody did.
        package let authors: [String]
        /// Since when it answers or, with a `problem`, fails; nil before either.
        package let since: Instant?
        /// The time until the next poll; nil while a fetch is in flight.
        package let nextPoll: Duration?
        /// Why the last fetch failed; nil after a good fetch.
        package let problem: String?
        /// Why its last answer, a signed document, is refused; nil if it is not.
        package let refusal: DocumentRefusal?
        /// Whether flags of it are in force or staged.
        package var hasFlags: Bool { fetchedAt != nil }
        /// Why its list of signers cannot be used; nil if it can, or if it has none.
        package let signersProblem: String?
        /// The present warnings about it, its flags and its server's clock, each a clause.
        package let warnings: [String]
    }

    /// The services in the order of the configuration.
    package var services: LazyMapCollection<Range<Int>, ServiceView> {
        let (machine, now) = (machine, now)
        return machine.services.indices.lazy.map { machine.view(ofService: $0, at: now) }
    }

    /// The service of this name; nil without one.
    package func service(_ name: ServiceName) -> ServiceView? {
        machine.index.service(name).map { machine.view(ofService: $0, at: now) }
    }

    /// The services that follow a source.
    package func followers(of source: SourceName) -> [ServiceName] { machine.followers(of: source) }

    /// The guards that were asked lately or hold steps, in the order of their names.
    package var guards: [GuardView] { machine.stepGuards?.views(at: now) ?? [] }

    /// How many findings of each kind there are that monitoring is told of.
    package var alarmCounts: [Finding.Kind: Int] {
        findings.reduce(into: [:]) { counts, finding in
            if finding.isAlarm { counts[finding.kind, default: 0] += 1 }
        }
    }

    /// The wall clock at a time of this boot.
    package func instant(of moment: Boottime) -> Instant { now.wall - (now.boot - moment) }

    /// The sources in the order of the configuration.
    package var sources: LazyMapCollection<Range<Int>, SourceView> {
        let (machine, now) = (machine, now)
        return machine.sources.indices.lazy.map { machine.view(ofSource: $0, at: now) }
    }

    package var stateCounts: [State: Int] {
        machine.services.indices.reduce(into: [:]) { counts, position in
            counts[machine.services[position].record?.verdict.state ?? .undecided, default: 0] += 1
        }
    }

    /// Whether each service has its first decision.
    package var isDecided: Bool {
        machine.services.indices.allSatisfy { machine.services[$0].isDecided }
    }
}

extension Machine {
    /// The record of a service that was published last; nil before the first.
    package func publishedVerdict(of name: ServiceName) -> PublishedVerdict? {
        index.service(name).flatMap { services[$0].record }
    }

    /// The configured service of this name; nil without one.
    package func service(_ name: String) -> Service? {
        ServiceName(name).flatMap(index.service).map { services[$0].service }
    }

    /// The services that follow a source.
    package func followers(of name: SourceName) -> [ServiceName] {
        guard let source = index.source(name) else { return [] }
        var names: [ServiceName] = []
        // In the order of the services: several switches of one service follow each other.
        for reader in index.switches[source] {
            let follower = services[reader.service].service.name
            if names.last != follower { names.append(follower) }
        }
        return names
    }

    /// The view of one source; nil if it is not configured.
    package func view(of name: SourceName, at now: Now) -> Overview.SourceView? {
        index.source(name).map { view(ofSource: $0, at: now) }
    }

    /// The age of the flags of a source whose last good answer was in caches on the way; zero for others.
    package func ageFromCaches(of name: SourceName, at now: Now) -> Duration {
        guard let source = index.source(name), sources[source].ageOnArrival > .zero else {
            return .zero
        }
        return sources[source].confirmation.age(at: now)
    }

    /// Whether a service has staged flags, for the next start or for `activate`.
    package func isStaged(_ name: ServiceName) -> Bool {
        index.service(name).map { services[$0].isStaged } ?? false
    }

    /// The last drill of a service; nil if there was none.
    package func lastDrill(of name: ServiceName) -> LastDrill? { ledger.entries[name]?.drill }

    /// Whether the host guard holds the closing of a service.
    package func isHeld(_ name: ServiceName) -> Bool { hostGuard.isHeld(name) }

    /// The guard that has answered and holds the step of a service; nil if none does.
    package func guardHolding(_ name: ServiceName) -> GuardName? {
        guard case .held(let hold) = stepGuards?.hold(of: name) else { return nil }
        return hold.name
    }

    /// Whether a step of a service waits for a guard.
    package func awaitsGuard(_ name: ServiceName) -> Bool { stepGuards?.isWaiting(name) ?? false }

    /// The overview of all sources and services, with what is known beside the machine.
    package func overview(at now: Now, _ condition: HostCondition = HostCondition()) -> Overview {
        Overview(self, condition, at: now)
    }

    fileprivate func view(ofService position: Int, at now: Now) -> Overview.ServiceView {
        let name = services[position].service.name
        return Overview.ServiceView(
            name: name, record: services[position].record, isHeld: hostGuard.isHeld(name),
            heldBy: guardHolding(name),
            drill: services[position].entry?.drill,
            runbook: services[position].service.runbook,
            decidesWithin: services[position].decidesWithin(at: now))
    }

    fileprivate func view(ofSource position: Int, at now: Now) -> Overview.SourceView {
        let confirmation = sources[position].confirmation
        return Overview.SourceView(
            name: sources[position].name,
            age: confirmation == .never ? nil : confirmation.age(at: now),
            confirmedAt: confirmation.instant(at: now), isUp: sources[position].isUp,
            interval: sources[position].interval, fetches: sources[position].fetches,
            fetchedAt: sources[position].answers.first?.answer.fetchedAt,
            authors: sources[position].answers.first?.answer.signed?.authors ?? [],
            since: (sources[position].problems.failingSince ?? sources[position].answersSince)
                .map { now.wall - (now.boot - $0) },
            nextPoll: sources[position].nextFetch.map { max(.zero, $0 - now.boot) },
            problem: sources[position].problems.failure?.detail,
            refusal: sources[position].problems.failure?.refusal,
            signersProblem: sources[position].problems.signersProblem,
            warnings: sources[position].problems.presentWarnings
                + host.trust.differences(at: now)
                .filter { $0.difference.source == sources[position].name }
                .map { $0.difference.text(of: $0.amount) })
    }
}

/// What differs whenever there is something new to tell; see `Machine.overviewRevision`.
package struct OverviewRevision: Hashable, Sendable {
    var publications = 0
    var clock = 0
    var drills = 0
    var guardAnswers = 0
    /// How often a source gave other flags, or its first answer.
    var answers = 0
    /// How often something else was wrong, in other words or no longer.
    package internal(set) var findings = 0
}
