package import JSON

/// How a verdict came about: the flags and the opinion of each switch, the override and the
/// verdict.
package struct Explanation: Hashable, Sendable {
    /// One switch and its part in the verdict.
    package struct SwitchView: Hashable, Sendable {
        package let plan: Switch
        /// The flags that it read, with the defaults of its source; nil if it never read any.
        package let flags: JSON.Object?
        /// How long ago its source confirmed them; nil if it never read any.
        package let age: Duration?
        /// The state that it asks for; nil while the service waits for its flags.
        package let opinion: Opinion?
        /// Why the newest answer is invalid; nil if it is not.
        package let problem: InvalidFlag?
        /// Whether newer flags wait for the next start.
        package let isStaged: Bool
        /// The planned window that comes next.
        package let nextWindow: Window?
        /// Whether its opinion became the verdict.
        package let isDecisive: Bool
    }

    package let service: Service
    package let switches: [SwitchView]
    package let override: Override?
    package let verdict: Verdict
}

extension Machine {
    /// Explains the verdict that a service would get now; nil for an unknown service.
    package func explanation(of name: ServiceName, at now: Now) -> Explanation? {
        guard let position = index.service(name) else { return nil }
        var host = host
        host.now = now
        return services[position].explanation(on: host)
    }
}

extension ServiceState {
    fileprivate func explanation(on host: HostState) -> Explanation {
        let circumstances = circumstances(on: host)
        let evidence = evidence(on: host)
        let opinions = evidence.map { service.opinion(of: $0, in: circumstances) }
        let decisive = service.mostRestrictive(opinions)
        let views = evidence.indices.map { position in
            let (known, plan) = (switches[position], service.switches[position])
            return Explanation.SwitchView(
                plan: plan, flags: known.answer.map { plan.format.relevant(in: $0.flags) },
                age: known.reading == nil ? nil : evidence[position].age,
                opinion: opinions[position], problem: known.problem, isStaged: known.staged != nil,
                nextWindow: known.reading?.nextWindow(
                    after: evidence[position].time(in: circumstances)),
                isDecisive: circumstances.overrideInForce == nil && position == decisive)
        }
        let verdict = service.decide(evidence, in: circumstances)
        return Explanation(
            service: service, switches: views, override: circumstances.overrideInForce,
            verdict: values.complete(verdict, of: service))
    }
}
