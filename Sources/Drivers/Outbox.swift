package import Decision

/// The files of services that wait to be written, and what waits for them.
///
/// An event may change the files of hundreds of services. They are written in shares of the loop, so that other events
/// come in between. First the closings, those of the event with the fewest: an order for a few services never waits
/// for one that concerns many. Then everything else, event by event, in the order of its effects.
package struct Outbox {
    /// What is done next.
    package enum Step {
        case publish(Service, PublishedVerdict)
        /// It follows the files of its event.
        case effect(Effect)
        /// Everything that these events have caused is done.
        case end([Event])
    }

    /// What is left of one event, or of several; each list is in reverse.
    private struct Batch {
        var closings: [ServiceName] = []
        var others: [ServiceName] = []
        var effects: [Effect] = []
        let events: [Event]
    }

    private var batches: [Batch] = []
    /// The newest records of the services that wait: an older one is not written any more.
    private var records: [ServiceName: (service: Service, record: PublishedVerdict)] = [:]
    /// The services whose files say that they are closed.
    private var closed: Set<ServiceName> = []

    package init() {}

    package var isEmpty: Bool { batches.isEmpty }

    /// Whether the files of a service wait.
    package var hasFiles: Bool { !records.isEmpty }

    package var hasClosings: Bool { batches.contains { !$0.closings.isEmpty } }

    /// Whether the files of a service wait.
    package func awaits(_ name: ServiceName) -> Bool { records[name] != nil }

    /// Adds the files of services, the effects that follow them, and the events that end with them.
    package mutating func add(
        _ publications: [(service: Service, record: PublishedVerdict)], _ effects: [Effect] = [],
        of events: [Event] = []
    ) {
        var batch = Batch(effects: effects.reversed(), events: events)
        // An event may publish a service twice: what could not be written before, and what it decides now.
        for (service, record) in publications { records[service.name] = (service, record) }
        for (service, record) in publications.reversed() {
            if record.verdict.gate == .closed, !closed.contains(service.name) {
                batch.closings.append(service.name)
            } else {
                batch.others.append(service.name)
            }
        }
        batches.append(batch)
    }

    /// Drops the files of a service that is no longer configured.
    package mutating func drop(_ name: ServiceName) {
        records[name] = nil
        closed.remove(name)
    }

    /// Takes what is done next; nil if nothing waits.
    package mutating func next() -> Step? {
        while let position = closingBatch {
            if let step = publish(batches[position].closings.removeLast()) { return step }
        }
        while !batches.isEmpty {
            if let name = batches[0].others.popLast() {
                if let step = publish(name) { return step }
            } else if let effect = batches[0].effects.popLast() {
                return .effect(effect)
            } else {
                return .end(batches.removeFirst().events)
            }
        }
        return nil
    }

    /// The position of the batch with the fewest closings; nil if none has any.
    private var closingBatch: Int? {
        batches.indices.filter { !batches[$0].closings.isEmpty }
            .min { batches[$0].closings.count < batches[$1].closings.count }
    }

    private mutating func publish(_ name: ServiceName) -> Step? {
        guard let (service, record) = records.removeValue(forKey: name) else { return nil }
        if record.verdict.gate == .closed { closed.insert(name) } else { closed.remove(name) }
        return .publish(service, record)
    }
}
