/// What differs whenever there is something new to tell; see `Machine.overviewRevision`.
package struct OverviewRevision: Hashable, Sendable {
    var publications = 0
    var clock = 0
    var drills = 0
    var guardAnswers = 0
    /// How often a source gave other flags, or its first answer.
    var answers = 0
    /// How often something else was wrong, in other words or no longer.
    package internal(set) var findings = 0
}
