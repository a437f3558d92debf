package import Decision
package import FlagSources
package import Pages

/// An element of the queue of the driver of decisions.
enum Input {
    case event(Event)
    case reload(Reconfiguration)

    /// Whether it is a source's report about itself. A hint is none: it may come from an operator.
    func isReport(of source: SourceName) -> Bool {
        switch self {
        case .event(.fetchEnded(let name, _, _, _)), .event(.watchChanged(let name, _)),
            .event(.signersRead(let name, _)), .event(.warningsChanged(let name, _)),
            .event(.disproved(let name, _)):
            name == source
        case .event, .reload: false
        }
    }
}

/// Another configuration with its sources.
package struct Reconfiguration {
    let plan: Plan
    let sources: [any FlagSource]
    let pages: [ServiceName: Page]
    let remember: (any FlagSource) -> Memory.StoredFlags?

    /// `sources` are all sources of the plan; an unchanged source is the same object as before. `pages` are those of
    /// services that configure one. `remember` returns the stored flags of a new source.
    package init(
        _ plan: Plan, sources: [any FlagSource], pages: [ServiceName: Page] = [:],
        remember: @escaping (any FlagSource) -> Memory.StoredFlags?
    ) {
        self.plan = plan
        self.sources = sources
        self.pages = pages
        self.remember = remember
    }
}

/// The outcome of an input.
package enum Observation {
    /// A service was decided, and its files were written or failed: a full disk must not keep a gate from closing. Nil
    /// for a service that is not configured any more.
    case decided(ServiceName, PublishedVerdict?)
    /// A service was decided open, and its marker says that it is closed, because nothing can be written: `decided`
    /// follows when it can.
    case openingDelayed(ServiceName)
    /// There is a notice of an end or a window of a service, and its files have it, or could not be written.
    case announced(ServiceName, Hook)
    case rejected(ServiceName, Override, OrderObjection)
    /// The machine handled an event, and its effects were performed.
    case handled(Event)
    /// The queue is empty, and all effects were performed.
    case queueDrained
}
