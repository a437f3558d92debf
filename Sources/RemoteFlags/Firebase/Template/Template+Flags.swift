import Decision
package import JSON

extension Template {
    /// What the template says to this host: each parameter's value, a string. A parameter that has
    /// none here, or says to use the default of the application, is left out.
    ///
    /// Of the conditions that are true and have a value for a parameter, the first in the order of
    /// the conditions counts.
    package func flags(
        in context: Context, _ tools: Tools
    ) -> (flags: JSON.Object, doubts: [String]) {
        var evaluator = Evaluator(context, tools)
        var rank: [ExactString: (place: Int, isTrue: Bool)] = [:]
        rank.reserveCapacity(conditions.count)
        for (place, named) in conditions.enumerated() {
            // Of two with one name, the first has the place and the last has the say.
            let isTrue = evaluator.isTrue(named.condition, named: named.name)
            rank[ExactString(named.name), default: (place, isTrue)].isTrue = isTrue
        }
        var flags = JSON.Object()
        var doubts = self.doubts + evaluator.doubts
        for parameter in parameters {
            do throws(Doubt) {
                guard let value = try parameter.value(by: rank) else { continue }
                flags[parameter.key] = .string(value)
            } catch {
                doubts.append("parameter \(quoted(parameter.key)): \(error.cause)")
            }
        }
        return (flags, doubts)
    }
}

extension Template.Parameter {
    /// Nil where the default of the application is meant.
    fileprivate func value(
        by rank: [ExactString: (place: Int, isTrue: Bool)]
    ) throws(Doubt) -> String? {
        var best: (place: Int, value: JSON.Value)?
        for (name, value) in conditionalValues {
            guard let condition = rank[ExactString(name)], condition.isTrue else { continue }
            if best.map({ condition.place < $0.place }) ?? true { best = (condition.place, value) }
        }
        guard let chosen = best?.value ?? defaultValue else { return nil }
        guard let wrapper = chosen.object else { throw Doubt("its value is no object") }
        if wrapper["useInAppDefault"]?.bool == true { return nil }
        if let text = wrapper["value"]?.string { return text }
        // A rollout, an experiment or a personalization has no value that a server could know.
        let kind = wrapper.members.first.map { "is given as \(quoted($0.key))" } ?? "is empty"
        throw Doubt("its value \(kind), and counts as not given")
    }
}
