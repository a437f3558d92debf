package import Decision

/// Where flags come from. Each kind is a folder beside this file.
///
/// A source has no will of its own: it fetches when it is told to, and ends each fetch with exactly
/// one `deliver(.fetched(…))`, inside its time limit. Between fetches it may say `.hinted`: that a
/// fetch would pay, and no more than that. Told to fetch while it does, it begins anew, and ends both
/// as one.
package protocol FlagSource: AnyObject {
    var name: SourceName { get }

    /// What answers depend on besides time: the address and whatever else selects them.
    var binding: String { get }

    /// Whether answers that came under a binding say something about those to come: their validators
    /// may be sent, and their edition counts. Others stay in force until the first that is good.
    func isBound(by stored: String) -> Bool

    /// Begins to watch for changes, where the source can.
    func start()

    /// Fetches once, only if the flags changed since `validators`, where the source knows such.
    func fetch(unlessMatching validators: Validators)

    /// Ends the watching and any fetch under way. Nothing is delivered after it.
    func stop()
}

extension FlagSource {
    package func isBound(by stored: String) -> Bool { binding.utf8.elementsEqual(stored.utf8) }
}

/// Where a source's events go: to the end of the agent's queue, never straight into the machine.
package typealias Deliver = (Event) -> Void
