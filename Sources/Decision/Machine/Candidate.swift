import CivilTime

/// The verdict of a service before the host guard and `min_closed` have looked at it.
struct Candidate {
    /// Its position in the plan.
    let service: Int
    let name: ServiceName
    let evidence: [Evidence]
    let circumstances: Circumstances
    let verdict: Verdict
    /// The verdict without an override.
    let unforced: Verdict
    /// The gate that its flags and its policy wanted before; nil if unknown. A gate that waits to open counts as
    /// closed.
    let wanted: Gate?
    /// How the end or the window was announced that closes it without an override; nil if it closes
    /// for another reason, or not.
    let lead: Lead?
    /// Whether its configuration changed since it was last decided.
    let isReconfigured: Bool
}
