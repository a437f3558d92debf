/// What speaks against closing a gate for a rehearsal: an order that asks for an open gate is not taken
/// then, and changes nothing.
package enum Objection: Hashable, Sendable {
    /// The gate is closed, or nothing is decided yet.
    case notOpen(State)
    /// Somebody's order is in force, which this one would replace.
    case forced(Override)
    /// The host guard keeps it open against its flags.
    case held
}
