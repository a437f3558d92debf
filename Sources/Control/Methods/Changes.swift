import Decision

/// What has changed of the services, in the order in which it did, for all clients of `Watch` together.
///
/// The services are compared once for each change of the machine, however many clients there are, and each
/// client remembers a number: it costs what is new to it.
package final class Changes {
    private enum Latest {
        case record(Record, number: Int)
        case gone(number: Int)

        var number: Int {
            switch self {
            case .record(_, let number), .gone(let number): number
            }
        }
    }

    private var seen: Int?
    private var latest: [ServiceName: Latest] = [:]
    /// In ascending order. An entry whose service has a later one no longer counts.
    private var log: [(number: Int, name: ServiceName)] = []
    /// The number of the newest change.
    private(set) var number = 0

    /// Compares the services with those of the last call, if the machine has published since.
    func update(_ machine: Machine) {
        guard seen != machine.publications else { return }
        seen = machine.publications
        let services = machine.plan.services
        for service in services {
            guard let record = machine.record(of: service.name) else { continue }
            if case .record(let known, let number)? = latest[service.name], known.isSame(as: record)
            {
                latest[service.name] = .record(record, number: number)
            } else {
                number += 1
                latest[service.name] = .record(record, number: number)
                log.append((number, service.name))
            }
        }
        for case (let name, .record) in latest where machine.service(name.text) == nil {
            number += 1
            latest[name] = .gone(number: number)
            log.append((number, name))
        }
        if log.count > 2 * latest.count + 64 {
            log.removeAll { latest[$0.name]?.number != $0.number }
        }
    }

    /// How many services a client is told of in one reply: others are in the next one.
    private static let most = 256

    /// The services that have changed, and those that are gone, after the change of this number, and the
    /// number of the last of them. Services that `isChosen` rejects are left out.
    func news(
        after number: Int, _ isChosen: (ServiceName) -> Bool
    ) -> (changed: [ServiceName], gone: [ServiceName], number: Int) {
        var changed: [ServiceName] = []
        var gone: [ServiceName] = []
        let new = log.reversed().prefix { $0.number > number }.count
        for entry in log.suffix(new) where latest[entry.name]?.number == entry.number {
            guard isChosen(entry.name) else { continue }
            if case .gone? = latest[entry.name] {
                gone.append(entry.name)
            } else {
                changed.append(entry.name)
            }
            if changed.count + gone.count == Self.most { return (changed, gone, entry.number) }
        }
        return (changed, gone, self.number)
    }
}

extension Record {
    /// Whether clients need not be told: only times of writing and of validity differ.
    fileprivate func isSame(as other: Record) -> Bool {
        verdict == other.verdict && generation == other.generation && since == other.since
    }
}
