/// Which services were published last, so that readers look at these and not at all services.
struct Publications: Sendable {
    /// How many changes of published records there were.
    private(set) var count = 0
    /// The newest changes: those before `count`.
    private var recent: [ServiceName] = []

    /// How many changes are remembered at least.
    private static let remembered = 1024

    /// Notes that a service was published, or withdrawn.
    mutating func record(_ name: ServiceName) {
        count += 1
        recent.append(name)
        if recent.count > 2 * Self.remembered { recent.removeFirst(Self.remembered) }
    }

    /// The services that have changed after `known` changes, some repeatedly; nil if that is not remembered.
    func names(since known: Int) -> ArraySlice<ServiceName>? {
        let new = count - known
        return new >= 0 && new <= recent.count ? recent.suffix(new) : nil
    }
}

/// What differs whenever there is something new to tell; see `Machine.overviewRevision`.
package struct OverviewRevision: Hashable, Sendable {
    var publications = 0
    var drills = 0
    var guardAnswers = 0
    var troubledServices = 0
    var troubledSources = 0
    var hasPendingWrites = false
    var unreadableRecords = 0
}
