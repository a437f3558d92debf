package import CivilTime

/// All sources and services at one moment: states, ages, next polls and problems.
package struct Overview: Hashable, Sendable {
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

    package let services: [ServiceView]
    package let sources: [SourceView]
    /// Whether write operations failed and are retried.
    package let hasPendingWrites: Bool
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

    /// The view of one source; nil if it is not configured.
    package func view(of name: SourceName, at now: Now) -> Overview.SourceView? {
        index.source(name).map { view(of: sources[$0], at: now) }
    }

    /// Whether a server's recent `Date` is far from the wall clock.
    package var isClockContradicted: Bool { host.trust.hasContradiction }

    /// Whether a service has staged flags, for the next start or for `activate`.
    package func isStaged(_ name: ServiceName) -> Bool {
        index.service(name).map { services[$0].switches.contains { $0.staged != nil } } ?? false
    }

    /// Whether the host guard holds the closing of a service.
    package func isHeld(_ name: ServiceName) -> Bool { hostGuard.isHeld(name) }

    /// The overview of all sources and services.
    package func overview(at now: Now) -> Overview {
        Overview(
            services: services.map { view(of: $0, at: now) },
            sources: sources.map { view(of: $0, at: now) },
            hasPendingWrites: !pendingWrites.isEmpty)
    }

    private func view(of service: ServiceState, at now: Now) -> Overview.ServiceView {
        let state = service.record?.verdict.state ?? .undecided
        let since = service.switches.map(\.awaitedSince).max() ?? now.boot
        let deadline = since + service.service.policy.firstTimeout
        return Overview.ServiceView(
            name: service.service.name, state: state, daysLeft: service.record?.verdict.daysLeft,
            decidesWithin: state == .undecided ? max(.zero, deadline - now.boot) : nil)
    }

    private func view(of source: SourceState, at now: Now) -> Overview.SourceView {
        Overview.SourceView(
            name: source.name,
            age: source.confirmation == .never ? nil : source.confirmation.age(at: now),
            fetchedAt: source.answers.first?.answer.fetchedAt,
            nextPoll: source.nextFetch.map { max(.zero, $0 - now.boot) },
            problem: source.failure?.detail,
            warnings: source.presentWarnings
                + [host.trust.warning(about: source.name, at: now)].compactMap(\.self))
    }
}
