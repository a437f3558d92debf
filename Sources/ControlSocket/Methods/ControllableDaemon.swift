package import Decision
package import Gates
package import JSON

/// The daemon as the methods of the control socket see it. Tests implement it too.
package protocol ControllableDaemon: AnyObject {
    var now: Now { get }
    /// The state of the services and the sources.
    var machine: Machine { get }
    /// What is known beside the machine: a refused configuration, the gates.
    var condition: HostCondition { get }
    /// The gates themselves; nil if decisions move none.
    var gates: GateMachine? { get }
    /// How many descriptors the process has open, nil if it cannot tell, and how many it may have.
    var descriptors: (used: Int?, limit: Int) { get }
    /// How old the last good drill of each service may be that asks for drills.
    var drillIntervals: [ServiceName: Duration] { get }

    /// The last published record of a service as the object of `state.json`; nil before the first.
    func state(of service: ServiceName) -> JSON.Object?
    /// What the switches of a service say, as the reply of `Explain`; nil for an unknown service.
    func explanation(of service: ServiceName) -> JSON.Object?
    /// What the gate of a service is in fact, as the object of `gate.json`; nil while that is not known.
    func gate(of service: ServiceName) -> JSON.Object?
    /// Whether systemd has taken or refused the last move of a service's gate, or has had its time.
    func isGateAnswered(_ service: ServiceName) -> Bool
    /// What came of the units that the last configuration lists; nil while they are being attached.
    var attachmentOutcome: AttachmentOutcome? { get }

    /// Appends an event to the queue of the machine.
    func post(_ event: Event)
    /// Reads the configuration again, and returns its warnings. Throws if it is invalid, and changes nothing then.
    func reload() throws(MethodError) -> [String]
}

/// An occurrence that may let a waiting call be answered.
package enum ReplyTrigger: Hashable, Sendable {
    /// The machine has handled this event, and its effects were performed.
    case event(Event)
    /// The machine has rejected this order.
    case rejected(ServiceName, Override, OrderObjection)
    case queueDrained
    /// Something was heard about gates.
    case gatesHandled
    /// The connection can take a reply: the call was just received, or the last reply was just sent.
    case writable
}

extension ControllableDaemon {
    package var services: [Service] { machine.plan.services }

    /// The state of the services and the sources, for people.
    package var overview: Overview { machine.overview(at: now, condition) }

    /// The configured service of this name; throws if there is none.
    func service(_ name: String) throws(MethodError) -> Service {
        guard let service = machine.service(name) else {
            throw .noSuchService(name, known: services.prefix(Self.mostKnown).map(\.name))
        }
        return service
    }

    /// The configured services of these names, each once, so that no list costs more; all if the list is empty.
    func services(_ names: [String]) throws(MethodError) -> [ServiceName] {
        if names.isEmpty { return services.map(\.name) }
        return try Set(names).map { (name) throws(MethodError) in try service(name).name }.sorted()
    }

    /// The services of these names. A service that is not configured is among them if units are attached to it.
    func servicesOrOrphans(_ names: [String]) throws(MethodError) -> Set<ServiceName> {
        let gates = gates
        return Set(
            try names.map { (name) throws(MethodError) in
                if let orphan = ServiceName(name), gates?.isOrphan(orphan) == true { return orphan }
                return try service(name).name
            })
    }

    /// How many of the configured names an error holds.
    private static var mostKnown: Int { 100 }

    /// The source of this name; throws if no service follows it.
    func source(_ name: String) throws(MethodError) -> SourceName {
        let known = machine.plan.sources.map(\.name)
        let source = known.first { $0.text.utf8.elementsEqual(name.utf8) }
        guard let source else {
            throw .noSuchSource(name, known: Array(known.prefix(Self.mostKnown)))
        }
        return source
    }

    /// The sources that these services follow.
    func sources(of names: Set<ServiceName>) -> Set<SourceName> {
        Set(names.compactMap { machine.service($0.text) }.flatMap(\.switches).map(\.source))
    }

    /// The state of a service as in `state.json`; nil if it is no longer configured or has none.
    func json(of service: Service) -> JSON.Value? { state(of: service.name).map(JSON.Value.object) }

    /// Whether each of these services that are chosen has a verdict.
    func areDecided(_ services: [Service], _ isChosen: (ServiceName) -> Bool) -> Bool {
        let machine = machine
        return services.allSatisfy { service in
            guard isChosen(service.name) else { return true }
            return machine.publishedVerdict(of: service.name)?.verdict.state ?? .undecided
                != .undecided
        }
    }

    /// The states of these services that are still configured, once each is decided; nil before.
    func decided(_ names: [ServiceName]) -> [JSON.Value]? {
        let wanted = names.compactMap { machine.service($0.text) }
        guard areDecided(wanted, { _ in true }) else { return nil }
        return wanted.compactMap(json)
    }
}
