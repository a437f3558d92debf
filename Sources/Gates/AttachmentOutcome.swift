package import Decision

/// A unit that belongs to a service.
package struct ListedUnit: Hashable, Comparable, Sendable {
    package let service: ServiceName
    package let name: UnitName

    package init(service: ServiceName, name: UnitName) {
        self.service = service
        self.name = name
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.service, left.name) < (right.service, right.name)
    }
}

/// The result of a run of `killswitchctl attach --from-configuration`.
package struct AttachmentOutcome: Hashable, Sendable {
    /// The units that it has attached, with those that trigger them.
    package var attached: [ListedUnit] = []
    /// The units that it has detached, because the configuration lists them no longer.
    package var detached: [ListedUnit] = []
    /// Why it could not attach a unit, by the unit.
    package var refused: [ListedUnit: String] = [:]
    /// The names by which systemd knows units that are listed by an alias.
    package var names: [UnitName: UnitName] = [:]
    /// The units that the configuration has listed for it.
    package var listed: Set<ListedUnit> = []
    /// Every unit that the gates hold by the configuration, triggers too.
    package var wanted: [Attachment] = []
    /// Those that stay attached although the configuration lists them no longer, because their gates are not open.
    package var kept: [Attachment] = []
    /// Triggers of attached units that nobody used when it ran.
    package var idleTriggers: Set<UnitName> = []
    /// Why it has compared nothing, such as an invalid file; nil if it has.
    package var failure: String?
    /// The listed units that are not attached now, with the reason. The gates know them, and not the run.
    package internal(set) var missing: [ListedUnit: UnitProblem] = [:]

    package init() {}
}
