/// What differs whenever there is something new to tell; see `Machine.overviewRevision`.
package struct OverviewRevision: Hashable, Sendable {
    var publications = 0
    var clock = 0
    var drills = 0
    var guardAnswers = 0
    /// How often a source gave other flags, or its first answer.
    var answers = 0
    /// What is wrong with services and sources, in every word: see `Machine.problemsOfServices`.
    var serviceProblems = 0
    var sourceProblems = 0
    var writeProblems = 0
    var unreadableRecords = 0

    /// Whether the same is wrong as at another moment.
    package func hasSameProblems(as other: OverviewRevision) -> Bool {
        serviceProblems == other.serviceProblems && sourceProblems == other.sourceProblems
            && writeProblems == other.writeProblems && clock == other.clock
            && unreadableRecords == other.unreadableRecords
    }
}

extension Machine {
    /// What is wrong with the services, as one number that differs where a word of it does.
    func problemsOfServices() -> Int {
        var hasher = Hasher()
        for service in services.indices where services[service].isTroubled {
            hasher.combine(service)
            hasher.combine(services[service].problems)
        }
        return hasher.finalize()
    }

    func problemsOfSources() -> Int {
        var hasher = Hasher()
        for source in sources.indices where sources[source].isTroubled {
            hasher.combine(source)
            hasher.combine(sources[source].problems.all)
            hasher.combine(sources[source].isOverdue(at: now))
        }
        return hasher.finalize()
    }
}
