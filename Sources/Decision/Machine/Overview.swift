package import CivilTime

/// All sources and services at one moment: states, ages, next polls and problems.
///
/// It computes what is asked for when it is asked for. Do not keep it: it holds the whole machine.
package struct Overview {
    private let machine: Machine
    private let now: Now

    fileprivate init(_ machine: Machine, at now: Now) {
        self.machine = machine
        self.now = now
    }
    /// One service as its record was last published.
    package struct ServiceView: Hashable, Sendable {
        package let name: ServiceName
        package let state: State
        package let daysLeft: Int?
        /// The longest time until its first decision; nil once it is decided.
        package let decidesWithin: Duration?
    }

    /// One source.
    package struct SourceView: Hashable, Sendable {
        package let name: SourceName
        /// How long ago the source confirmed its flags; nil if it never did.
        package let age: Duration?
        /// When the newest flags were fetched that are in force or staged.
        package let fetchedAt: Instant?
        /// The time until the next poll; nil while a fetch is in flight.
        package let nextPoll: Duration?
        /// Why the last fetch failed; nil after a good fetch.
        package let problem: String?
        /// The present warnings about it, its flags and its server's clock, each a clause.
        package let warnings: [String]
    }

    /// The services in the order of the configuration.
    package var services: LazyMapCollection<Range<Int>, ServiceView> {
        let (machine, now) = (machine, now)
        return machine.services.indices.lazy.map { machine.view(ofService: $0, at: now) }
    }

    /// The sources in the order of the configuration.
    package var sources: LazyMapCollection<Range<Int>, SourceView> {
        let (machine, now) = (machine, now)
        return machine.sources.indices.lazy.map { machine.view(ofSource: $0, at: now) }
    }

    /// The sources whose last fetch failed, and those with warnings.
    package var troubledSources: LazyMapCollection<[Int], SourceView> {
        let (machine, now) = (machine, now)
        return machine.sources.indices.filter { machine.sources[$0].isTroubled }
            .lazy.map { machine.view(ofSource: $0, at: now) }
    }

    /// How many services are in each state.
    package var stateCounts: [State: Int] {
        machine.services.indices.reduce(into: [:]) { counts, position in
            let state = machine.services[position].record?.verdict.state ?? .undecided
            counts[state, default: 0] += 1
        }
    }

    /// Whether each service has its first decision.
    package var isDecided: Bool {
        machine.services.indices.allSatisfy { machine.services[$0].isDecided }
    }

    /// Whether write operations failed and are retried.
    package var hasPendingWrites: Bool { machine.hasPendingWrites }
}

extension Machine {
    /// The record of a service that was published last; nil before the first.
    package func record(of name: ServiceName) -> Record? {
        index.service(name).flatMap { services[$0].record }
    }

    /// The configured service of this name; nil without one.
    package func service(_ name: String) -> Service? {
        ServiceName(name).flatMap(index.service).map { services[$0].service }
    }

    /// The services that follow a source.
    package func followers(of name: SourceName) -> [ServiceName] {
        guard let source = index.source(name) else { return [] }
        var found: [ServiceName] = []
        // In the order of the services: several switches of one service follow each other.
        for reader in index.readers[source] {
            let follower = services[reader.service].service.name
            if found.last != follower { found.append(follower) }
        }
        return found
    }

    /// Some of the services that follow a source: those of the next `count` switches after the `position`th
    /// one, and the position after them, which is 0 at the end.
    package func followers(
        of name: SourceName, after position: Int, _ count: Int
    ) -> (names: [ServiceName], next: Int) {
        guard let source = index.source(name) else { return ([], 0) }
        let readers = index.readers[source].dropFirst(position).prefix(count)
        let next = readers.endIndex
        return (
            readers.map { services[$0.service].service.name },
            next < index.readers[source].endIndex ? next : 0
        )
    }

    /// The view of one source; nil if it is not configured.
    package func view(of name: SourceName, at now: Now) -> Overview.SourceView? {
        index.source(name).map { view(ofSource: $0, at: now) }
    }

    /// Whether a service has staged flags, for the next start or for `activate`.
    package func isStaged(_ name: ServiceName) -> Bool {
        index.service(name).map { services[$0].switches.contains { $0.staged != nil } } ?? false
    }

    /// Whether the host guard holds the closing of a service.
    package func isHeld(_ name: ServiceName) -> Bool { hostGuard.isHeld(name) }

    /// The overview of all sources and services.
    package func overview(at now: Now) -> Overview { Overview(self, at: now) }

    fileprivate func view(ofService position: Int, at now: Now) -> Overview.ServiceView {
        let verdict = services[position].record?.verdict
        return Overview.ServiceView(
            name: services[position].service.name, state: verdict?.state ?? .undecided,
            daysLeft: verdict?.daysLeft, decidesWithin: services[position].decidesWithin(at: now))
    }

    fileprivate func view(ofSource position: Int, at now: Now) -> Overview.SourceView {
        let confirmation = sources[position].confirmation
        return Overview.SourceView(
            name: sources[position].name,
            age: confirmation == .never ? nil : confirmation.age(at: now),
            fetchedAt: sources[position].answers.first?.answer.fetchedAt,
            nextPoll: sources[position].nextFetch.map { max(.zero, $0 - now.boot) },
            problem: sources[position].failure?.detail,
            warnings: sources[position].presentWarnings
                + [host.trust.warning(about: sources[position].name, at: now)].compactMap(\.self))
    }
}
