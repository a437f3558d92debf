package import Decision
package import JSON

/// The daemon as the methods of the control socket see it. Tests implement it too.
package protocol ControllableDaemon: AnyObject {
    /// The time on both clocks.
    var now: Now { get }
    /// The state of the services and the sources.
    var machine: Machine { get }
    /// Why the configuration on disk is not in force; nil if it is.
    var refusal: String? { get }

    /// The last published record of a service as the object of `state.json`; nil before the first.
    func state(of service: ServiceName) -> JSON.Object?
    /// Whether decisions move units.
    var movesGates: Bool { get }

    /// Appends an event to the queue of the machine.
    func post(_ event: Event)
    /// Reads the configuration again. Throws if it is invalid; nothing has changed then.
    func reload() throws(MethodError)
}

/// An occurrence that may let a waiting call be answered.
package enum ReplyTrigger: Hashable, Sendable {
    /// The machine has handled this event, and its effects were performed.
    case event(Event)
    /// The machine has rejected this order.
    case rejected(ServiceName, Override, OrderObjection)
    /// The queue of events is empty.
    case settled
    /// The connection can take a reply: the call was just received, or the last reply was just sent.
    case writable
}

extension ControllableDaemon {
    /// The configured services.
    package var services: [Service] { machine.plan.services }

    /// The state of the services and the sources, for people.
    package var overview: Overview { machine.overview(at: now) }

    /// The record of a service that was published last; nil before the first.
    package func record(of service: ServiceName) -> Record? { machine.record(of: service) }

    /// The configured service of this name; throws if there is none.
    func service(_ name: String) throws(MethodError) -> Service {
        let service = services.first { $0.name.text.utf8.elementsEqual(name.utf8) }
        guard let service else { throw .noSuchService(name, known: services.map(\.name)) }
        return service
    }

    /// The configured services of these names; all services if the list is empty.
    func services(_ names: [String]) throws(MethodError) -> [ServiceName] {
        if names.isEmpty { return services.map(\.name) }
        return try names.map { (name) throws(MethodError) in try service(name).name }
    }

    /// The source of this name; throws if no service follows it.
    func source(_ name: String) throws(MethodError) -> SourceName {
        let known = overview.sources.map(\.name)
        let source = known.first { $0.text.utf8.elementsEqual(name.utf8) }
        guard let source else { throw .noSuchSource(name, known: known) }
        return source
    }

    /// The sources that these services follow.
    func sources(of names: [ServiceName]) -> Set<SourceName> {
        Set(services.filter { names.contains($0.name) }.flatMap(\.switches).map(\.source))
    }

    /// The services that follow a source.
    func followers(of source: SourceName) -> [ServiceName] {
        services.filter { $0.switches.contains { $0.source == source } }.map(\.name)
    }

    /// The states of these services as in `state.json`, once each of them is decided; nil before. Services
    /// that are no longer configured are left out.
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
