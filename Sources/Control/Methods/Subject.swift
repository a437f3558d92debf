package import Decision
package import JSON

/// What the methods ask of the daemon, or of a test's stand-in for it.
package protocol Subject: AnyObject {
    /// The time of a call that is made now.
    var now: Now { get }
    /// How everything stands.
    var machine: Machine { get }
    /// Why the configuration on disk is not the one in force.
    var refusal: String? { get }

    /// What was last published of a service in the form of `state.json`; nil where nothing was yet.
    func state(of service: ServiceName) -> JSON.Object?
    /// Whether decisions move units.
    var movesGates: Bool { get }

    /// Hands an order to the machine, which takes it in its turn.
    func post(_ event: Event)
    /// Reads the configuration again. Throws what is wrong with it, and then nothing has changed.
    func reload() throws(MethodError)
}

/// Something after which a call that waits may be answered.
package enum Occasion: Hashable, Sendable {
    /// This was taken in, and its effects were performed.
    case event(Event)
    /// This order was not taken.
    case rejected(ServiceName, Override, OrderObjection)
    /// Everything that was posted is taken in.
    case settled
    /// The caller waits for a reply: the first, or the one after that which it has just taken.
    case room
}

extension Subject {
    /// The configured services.
    package var services: [Service] { machine.plan.services }

    /// How the services and the sources stand.
    package var overview: Overview { machine.overview(at: now) }

    /// What was last published of a service; nil where nothing was yet.
    package func record(of service: ServiceName) -> Record? { machine.record(of: service) }

    /// The configured service of this name.
    func service(_ name: String) throws(MethodError) -> Service {
        let service = services.first { $0.name.text.utf8.elementsEqual(name.utf8) }
        guard let service else { throw .noSuchService(name, known: services.map(\.name)) }
        return service
    }

    /// The configured services of these names, or all of them where none is named.
    func services(_ names: [String]) throws(MethodError) -> [ServiceName] {
        if names.isEmpty { return services.map(\.name) }
        var found: [ServiceName] = []
        for name in names { found.append(try service(name).name) }
        return found
    }

    /// The source of this name, which some service follows.
    func source(_ name: String) throws(MethodError) -> SourceName {
        let known = overview.sources.map(\.name)
        let source = known.first { $0.text.utf8.elementsEqual(name.utf8) }
        guard let source else { throw .noSuchSource(name, known: known) }
        return source
    }

    /// The sources of these services.
    func sources(of names: [ServiceName]) -> Set<SourceName> {
        Set(services.filter { names.contains($0.name) }.flatMap(\.switches).map(\.source))
    }

    /// The services that follow a source.
    func followers(of source: SourceName) -> [ServiceName] {
        services.filter { $0.switches.contains { $0.source == source } }.map(\.name)
    }

    /// The states of services once each is decided; nil before. A service that is no longer configured
    /// is left out.
    func decided(_ names: [ServiceName]) -> [JSON.Value]? {
        var states: [JSON.Value] = []
        for name in names where services.contains(where: { $0.name == name }) {
            guard let record = record(of: name), record.verdict.state != .undecided,
                let state = state(of: name)
            else { return nil }
            states.append(.object(state))
        }
        return states
    }
}
