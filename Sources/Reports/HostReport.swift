import CivilTime
package import Decision
package import Gates
package import JSON

/// The state of the whole host as one JSON document, which docs/report.schema.json describes.
///
/// It is made some services at a time, so that ten thousand of them do not hold up the loop. Each service is told as it
/// is when its turn comes; a change in between is told by the next report.
package struct HostReport {
    /// The member `host`: the name, the id of this machine for killswitchd alone, the boot, the version of the daemon.
    package static func host(
        name: String?, machineID: String?, bootID: String, version: String
    ) -> JSON.Object {
        [
            "name": .optional(name), "machine_id": .optional(machineID),
            "boot_id": .string(bootID), "version": .string(version),
        ]
    }

    /// The members that stand before the services, without the status.
    private var head: JSON.Object
    /// The services and the positions of the sources whose turn has not come.
    private var waiting: ArraySlice<ServiceName>
    private var waitingSources: Range<Int>
    /// The objects of the services and of the sources so far, with a comma after each.
    private var services: [UInt8] = []
    private var sources: [UInt8] = []
    private var statuses: Set<ServiceReport.Status> = []
    private var hasher = Hasher()

    /// The size of a service without long texts, in bytes.
    private static let usualSize = 640

    package init(of host: JSON.Object, _ overview: Overview) {
        head = [
            "schema": 1,
            "generation": .null,
            "reported_at": timestamp(overview.now.wall),
            "host": .object(host),
            "moves_gates": .bool(overview.condition.gates != nil),
            "configuration_refused": .bool(overview.condition.refusal != nil),
        ]
        hasher.combine(overview.condition.refusal != nil)
        waiting = overview.services.map(\.name)[...]
        waitingSources = overview.sources.indices
        services.reserveCapacity(waiting.count * Self.usualSize)
    }

    /// How many services or sources are added in one turn of the loop.
    package static let share = 200

    /// Adds the next services that are still configured, then the next sources; returns whether some are left.
    package mutating func add(_ count: Int, from overview: Overview, _ gates: GateMachine?) -> Bool
    {
        guard !waiting.isEmpty else { return addSources(count, from: overview) }
        for name in waiting.prefix(count) {
            guard let view = overview.service(name) else { continue }
            let report = ServiceReport(view, in: overview, gates)
            if let status = report.status { statuses.insert(status) }
            let object = JSON.Value.object(report.json).serializedBytes(room: Self.usualSize)
            hasher.combine(object)
            services += object
            services.append(UInt8(ascii: ","))
        }
        waiting = waiting.dropFirst(count)
        return !waiting.isEmpty || !waitingSources.isEmpty
    }

    private mutating func addSources(_ count: Int, from overview: Overview) -> Bool {
        let all = overview.sources
        for position in waitingSources.prefix(count).clamped(to: all.indices) {
            let source = all[position]
            // That a source confirms its flags is no news, and the words of a failure may tell of its duration.
            hasher.combine(source.name)
            hasher.combine(source.problem == nil)
            hasher.combine(source.warnings)
            sources += JSON.Value.object(source.json).serializedBytes(room: Self.usualSize)
            sources.append(UInt8(ascii: ","))
        }
        waitingSources = waitingSources.dropFirst(count)
        return !waitingSources.isEmpty
    }

    /// Differs from that of another report where the reports tell different things, but for times.
    package var fingerprint: Int { hasher.finalize() }

    /// The document in UTF-8, with the services and sources that were added. A receiver that has a report of this
    /// machine with this generation or a later one may drop it.
    package consuming func bytes(generation: Int64) -> [UInt8] {
        let worst: [ServiceReport.Status] = [.failed, .applying, .applied]
        head["generation"] = .number(Number(generation))
        head["status"] = .optional(worst.first(where: statuses.contains)?.rawValue)
        var bytes = JSON.Value.object(head).serializedBytes(room: services.count + Self.usualSize)
        bytes.removeLast()
        bytes += ",\"services\":[".utf8
        bytes += services.dropLast()
        bytes += "],\"sources\":[".utf8
        bytes += sources.dropLast()
        bytes += "]}\n".utf8
        return bytes
    }
}

extension Overview {
    /// Whether each service is decided, and as wanted or past its limit.
    package func isSettled(_ gates: GateMachine?) -> Bool {
        services.allSatisfy { ServiceReport($0, in: self, gates).isSettled }
    }
}

extension Overview.SourceView {
    /// The object in the document; docs/report.schema.json describes it.
    fileprivate var json: JSON.Object {
        [
            "source": .string(name.text),
            "confirmed_at": timestamp(confirmedAt),
            "age_seconds": .optional(age.map(\.wholeSeconds)),
            "error_message": .optional(problem),
            "warnings": .strings(warnings),
        ]
    }
}
