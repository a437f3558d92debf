package import Decision
package import Records
package import RemoteFlags

extension Agent {
    /// Goes on with another configuration, once all that was queued before is taken in. `sources` are
    /// all of its sources; those that stay as they were are the same objects. Those that are gone are
    /// stopped when the machine drops them. `remember` gives what is stored of one that is new.
    package func reconfigure(
        _ plan: Plan, sources: [any FlagSource], runtime: RuntimeDirectory,
        remember: @escaping (any FlagSource) -> Memory.Kept?
    ) {
        configurations.append(Following(sources: sources, runtime: runtime, remember: remember))
        post(.reconfigured(plan))
    }

    /// Follows the sources of the configuration whose turn it is, and tells the machine which of them
    /// another object asks from now on. That nothing is under way of these any more is all there is
    /// to say: when they are asked is the machine's to decide.
    func takeUp(_ plan: Plan, after taken: Int) -> Event {
        guard !configurations.isEmpty else { return .reconfigured(plan) }
        let next = configurations.removeFirst()
        runtime = next.runtime
        services = plan.services
        var replaced: [SourceName: Replacement] = [:]
        var remembered: [SourceName: Memory.Kept] = [:]
        for source in next.sources {
            let before = sources[source.name]?.source
            guard before !== source else { continue }
            before?.stop()
            // What it has said since, and nobody has heard, is no word of the one in its place.
            let said = queue[taken...].filter { !$0.isReport(of: source.name) }
            queue.replaceSubrange(taken..., with: said)
            if let before {
                replaced[source.name] =
                    source.isBound(by: before.binding) ? .sameAddress : .otherAddress
            } else {
                remembered[source.name] = next.remember(source)
            }
            sources[source.name] = Followed(source)
            source.start()
        }
        versionFiles?.follow(services)
        return .reconfigured(plan, replaced: replaced, remembered: remembered)
    }
}
