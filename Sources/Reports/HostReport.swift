import CivilTime
package import Decision
import JSON

/// The state of the whole host as one JSON document, from the overview that `status` and the metrics print too.
/// docs/report.schema.json describes it.
///
/// It is made some services at a time, so that ten thousand of them do not hold up the loop. Each service is told as
/// it is when its turn comes; a change in between is told by the next report.
package struct HostReport {
    /// Which host reports. An unknown fact is null in the document.
    package struct Host: Hashable, Sendable {
        package let name: String?
        /// The id of this machine for killswitchd alone.
        package let machineID: String?
        package let bootID: String
        /// The version of the daemon.
        package let version: String

        /// A host with these names.
        package init(name: String?, machineID: String?, bootID: String, version: String) {
            self.name = name
            self.machineID = machineID
            self.bootID = bootID
            self.version = version
        }
    }

    /// The members that stand before the services, without the status.
    private var head: JSON.Object
    /// The services whose turn has not come.
    private var waiting: ArraySlice<ServiceName>
    /// The objects of the services so far, with a comma after each.
    private var services: [UInt8] = []
    private var statuses: Set<ServiceReport.Status> = []

    private static let schema: Int64 = 1
    /// The size of a service without long texts, in bytes.
    private static let usualSize = 640

    /// Begins the report of a host. A receiver that has a report of this machine with this generation or a later one
    /// may drop it.
    package init(of host: Host, generation: Int64, _ overview: Overview) {
        head = [
            "schema": .number(Number(Self.schema)),
            "generation": .number(Number(generation)),
            "reported_at": timestamp(overview.time),
            "host": .object([
                "name": .optional(host.name), "machine_id": .optional(host.machineID),
                "boot_id": .string(host.bootID), "version": .string(host.version),
            ]),
            "moves_gates": .bool(overview.movesGates),
            "configuration_refused": .bool(overview.isConfigurationRefused),
        ]
        waiting = overview.services.map(\.name)[...]
        services.reserveCapacity(waiting.count * Self.usualSize)
    }

    /// How many services are added in one turn of the loop.
    package static let share = 200

    /// Adds the next services; returns whether some are left. A service that is not configured any more is left out.
    package mutating func add(_ count: Int, from overview: Overview) -> Bool {
        for name in waiting.prefix(count) {
            guard let view = overview.service(name) else { continue }
            let report = ServiceReport(view, in: overview)
            if let status = report.status { statuses.insert(status) }
            services += JSON.Value.object(report.json).serializedBytes(room: Self.usualSize)
            services.append(UInt8(ascii: ","))
        }
        waiting = waiting.dropFirst(count)
        return !waiting.isEmpty
    }

    /// The document in UTF-8, with the services that were added.
    package consuming func bytes() -> [UInt8] {
        head["status"] = .optional(statuses.worst?.rawValue)
        var bytes = JSON.Value.object(head).serializedBytes(room: services.count + Self.usualSize)
        bytes.removeLast()
        bytes += ",\"services\":[".utf8
        bytes += services.dropLast()
        bytes += "]}\n".utf8
        return bytes
    }
}

extension Overview {
    /// Whether each service is decided, and as wanted or past its limit.
    package var isSettled: Bool {
        services.allSatisfy { ServiceReport($0, in: self).isSettled }
    }
}

extension Set<ServiceReport.Status> {
    /// The one that the whole host has; nil without any.
    fileprivate var worst: ServiceReport.Status? {
        [.failed, .applying, .applied].first(where: contains)
    }
}
