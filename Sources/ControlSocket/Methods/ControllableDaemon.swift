package import Decision
package import Gates
package import JSON

/// The daemon as the methods of the control socket see it. Tests implement it too.
package protocol ControllableDaemon: AnyObject {
    var now: Now { get }
    /// The state of the services and the sources.
    var machine: Machine { get }
    /// Whether every event that was posted was handled, and what follows from it was done.
    var isIdle: Bool { get }
    /// The orders that were rejected since it was idle last.
    var rejections: [OrderRejection] { get }
    /// The gates themselves; nil if decisions move none.
    var gates: GateMachine? { get }
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

/// An order that the machine has not taken.
package struct OrderRejection {
    let service: ServiceName
    let order: Override
    let objection: OrderObjection

    package init(_ service: ServiceName, _ order: Override, _ objection: OrderObjection) {
        (self.service, self.order, self.objection) = (service, order, objection)
    }
}

extension ControllableDaemon {
    package var services: [Service] { machine.plan.services }

    /// The state of the services and the sources, for people.
    package var overview: Overview { machine.overview(at: now) }

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

    /// The states of these services that are still configured, once each is decided; nil before.
    func decided(_ names: [ServiceName]) -> [JSON.Value]? {
        let wanted = names.compactMap { machine.service($0.text) }
        let areDecided = wanted.allSatisfy { service in
            let verdict = machine.publishedVerdict(of: service.name)?.verdict
            return verdict.map { $0.state != .undecided } ?? false
        }
        return areDecided ? wanted.compactMap { state(of: $0.name).map(JSON.Value.object) } : nil
    }
}
