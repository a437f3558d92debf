package import CivilTime

/// What there is to say of the whole at one moment: what was decided, how old the flags are, when
/// they are asked for next, and what is wrong.
package struct Overview: Hashable, Sendable {
    /// One service, as it was last published.
    package struct ServiceView: Hashable, Sendable {
        package let name: ServiceName
        package let state: State
        package let daysLeft: Int?
        /// How long its first decision may still take; nil once it is made.
        package let decidesWithin: Duration?
    }

    /// One source.
    package struct SourceView: Hashable, Sendable {
        package let name: SourceName
        /// How long ago the source confirmed its flags; nil where it never did.
        package let age: Duration?
        /// When the newest flags came that are in force or wait to be.
        package let fetchedAt: Instant?
        /// Nil while a fetch is under way.
        package let nextPoll: Duration?
        /// Why the last fetch brought nothing.
        package let problem: String?
    }

    package let services: [ServiceView]
    package let sources: [SourceView]
    /// Whether something could not be written, and is tried again.
    package let hasPendingWrites: Bool
}

extension Machine {
    /// What was last published of a service; nil where nothing was yet.
    package func record(of name: ServiceName) -> Record? {
        index.service(name).flatMap { services[$0].record }
    }

    /// Whether a service has flags that take force at the next start, or when `activate` is ordered.
    package func isStaged(_ name: ServiceName) -> Bool {
        index.service(name).map { services[$0].switches.contains { $0.staged != nil } } ?? false
    }

    /// Whether the host guard keeps a service open.
    package func isHeld(_ name: ServiceName) -> Bool { hostGuard.isHeld(name) }

    /// How things stand.
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
            name: service.service.name, state: state,
            daysLeft: service.record?.verdict.daysLeft,
            decidesWithin: state == .undecided ? max(.zero, deadline - now.boot) : nil)
    }

    private func view(of source: SourceState, at now: Now) -> Overview.SourceView {
        Overview.SourceView(
            name: source.name,
            age: source.confirmation == .never ? nil : source.confirmation.age(at: now),
            fetchedAt: source.answers.first?.answer.fetchedAt,
            nextPoll: source.nextFetch.map { max(.zero, $0 - now.boot) },
            problem: source.failure?.detail)
    }
}
