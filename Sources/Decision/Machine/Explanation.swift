package import JSON

/// How a verdict came about: the flags and the opinion of each switch, and the override.
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
        package let problem: InvalidFlag?
        /// Whether newer flags wait for the next start.
        package let isStaged: Bool
        package let nextWindow: Window?
        /// Whether its opinion became the verdict.
        package let isDecisive: Bool
    }

    package let service: Service
    /// The guard that it asks before its steps, and what that has answered; nil without one.
    package let guardName: GuardName?
    package let guardView: Overview.GuardView?
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
        let state = services[position]
        let service = state.service
        var circumstances = state.circumstances(on: host)
        circumstances.stepHold = stepGuards?.hold(of: name)
        let evidence = state.evidence(confirmations(of: position), on: host)
        let opinions = evidence.map { service.opinion(of: $0, in: circumstances) }
        let decisive = service.mostRestrictive(opinions)
        let views = evidence.indices.map { position in
            let (known, plan) = (state.switches[position], service.switches[position])
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
            service: service, guardName: plan.guards[name],
            guardView: stepGuards?.views(at: now).first { $0.name == plan.guards[name] },
            switches: views, override: circumstances.overrideInForce,
            verdict: state.values.complete(verdict, of: service))
    }
}
