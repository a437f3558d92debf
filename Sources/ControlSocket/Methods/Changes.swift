import Decision

/// What has changed of the services, in the order in which it did, for all clients of `Watch` together.
///
/// The services are compared once, however many clients there are, and each client remembers a number: it costs what is
/// new to it.
package final class Changes {
    private var reported: Int?
    /// The newest change of each service, with its record; nil if it is gone.
    private var latest: [ServiceName: (record: PublishedVerdict?, number: Int)] = [:]
    /// In ascending order. An entry whose service has a later one no longer counts.
    private var log: [(number: Int, name: ServiceName)] = []
    private(set) var number = 0

    /// Compares the services with those of the last call, if the machine has published since.
    func update(_ machine: Machine) {
        guard reported != machine.publicationCount else { return }
        for service in machine.plan.services { compare(service.name, with: machine) }
        for name in latest.keys { compare(name, with: machine) }
        reported = machine.publicationCount
        if log.count > 2 * latest.count + 64 {
            log.removeAll { latest[$0.name]?.number != $0.number }
        }
    }

    private func compare(_ name: ServiceName, with machine: Machine) {
        let record = machine.publishedVerdict(of: name)
        switch (latest[name]?.record, record) {
        case (nil, nil): return
        case (let known?, let record?) where known.isSame(as: record): latest[name]?.record = record
        case (_, _):
            number += 1
            latest[name] = (record, number)
            log.append((number, name))
        }
    }

    /// How many services a client is told of in one reply: others are in the next one.
    private static let most = 256

    /// The services that have changed, and those that are gone, after the change of this number, and the
    /// number of the last of them. Services that `isChosen` rejects are left out.
    func next(
        after number: Int, _ isChosen: (ServiceName) -> Bool
    ) -> (changed: [ServiceName], gone: [ServiceName], number: Int) {
        var changed: [ServiceName] = []
        var gone: [ServiceName] = []
        let new = log.reversed().prefix { $0.number > number }.count
        for entry in log.suffix(new) where latest[entry.name]?.number == entry.number {
            guard isChosen(entry.name) else { continue }
            if latest[entry.name]?.record == nil {
                gone.append(entry.name)
            } else {
                changed.append(entry.name)
            }
            if changed.count + gone.count == Self.most { return (changed, gone, entry.number) }
        }
        return (changed, gone, self.number)
    }
}

extension PublishedVerdict {
    /// Whether clients need not be told: only times of writing and of validity differ.
    fileprivate func isSame(as other: PublishedVerdict) -> Bool {
        verdict == other.verdict && generation == other.generation && since == other.since
    }
}
