package import JSON

/// The way to a verdict: what each switch has read, what it would do, and what came of it.
package struct Explanation: Hashable, Sendable {
    /// One switch.
    package struct SwitchView: Hashable, Sendable {
        package let plan: Switch
        /// The flags that it read, with the defaults of its source; nil where it never could read any.
        package let flags: JSON.Object?
        /// How long ago its source confirmed them.
        package let age: Duration?
        /// What it would do; nil while its flags are waited for.
        package let opinion: Opinion?
        /// Why the newest answer does not count.
        package let problem: InvalidFlag?
        /// Whether newer flags wait for the next start.
        package let isStaged: Bool
        /// The planned window that comes next.
        package let nextWindow: Window?
        /// Whether the verdict is what it says.
        package let isDecisive: Bool
    }

    package let service: Service
    package let switches: [SwitchView]
    package let override: Override?
    package let verdict: Verdict
}

extension Machine {
    /// Explains what a service would be decided now; nil where there is none of that name.
    package func explanation(of name: ServiceName, at now: Now) -> Explanation? {
        guard let position = index.service(name) else { return nil }
        let state = services[position]
        let context = context(at: now)
        let circumstances = state.circumstances(overrides[name], in: context)
        let evidence = state.evidence(in: context)
        let opinions = evidence.map { state.service.opinion(of: $0, in: circumstances) }
        let decisive = state.service.mostRestrictive(opinions)
        let switches = evidence.indices.map { position in
            let known = state.switches[position]
            let plan = state.service.switches[position]
            return Explanation.SwitchView(
                plan: plan, flags: flags(of: known, plan),
                age: known.reading == nil ? nil : evidence[position].age,
                opinion: opinions[position], problem: known.problem,
                isStaged: known.staged != nil,
                nextWindow: known.reading?.nextWindow(after: circumstances.time),
                isDecisive: circumstances.standingOverride == nil && position == decisive)
        }
        let verdict = state.service.decide(evidence, in: circumstances)
        return Explanation(
            service: state.service, switches: switches, override: circumstances.standingOverride,
            verdict: state.values.complete(verdict, of: state.service))
    }

    /// Of the answer that a switch rests on, the flags that its format looks at.
    private func flags(of known: SwitchState, _ plan: Switch) -> JSON.Object? {
        guard let number = known.answer?.number, let source = index.source(plan.source),
            let answer = sources[source].answers.first(where: { $0.number == number })
        else { return nil }
        return plan.format.relevant(in: answer.flags)
    }
}
