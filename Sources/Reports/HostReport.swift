import CivilTime
package import Decision
import JSON

/// The state of the whole host at one moment as one JSON document, from the overview that `status` and the metrics
/// print too. docs/report.schema.json describes it.
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

    /// The document in UTF-8.
    package let bytes: [UInt8]
    /// Whether each service is decided, and as wanted or past its limit.
    package let isSettled: Bool

    private static let schema: Int64 = 1
    /// The size of a service without long texts, in bytes.
    private static let usualSize = 640

    /// The report of a host. A receiver that has a report of this machine with this generation or a later one may
    /// drop it.
    package init(_ overview: Overview, of host: Host, generation: Int64) {
        var services: [UInt8] = []
        services.reserveCapacity(overview.services.count * Self.usualSize)
        var found: Set<ServiceReport.Status> = []
        var isSettled = true
        for view in overview.services {
            let report = ServiceReport(view, in: overview)
            if let status = report.status { found.insert(status) }
            if report.status == nil || report.status == .applying { isSettled = false }
            if !services.isEmpty { services.append(UInt8(ascii: ",")) }
            services += JSON.Value.object(report.json).serializedBytes(room: Self.usualSize)
        }
        self.isSettled = isSettled
        let status = [ServiceReport.Status.failed, .applying, .applied].first(where: found.contains)
        let head: JSON.Object = [
            "schema": .number(Number(Self.schema)),
            "generation": .number(Number(generation)),
            "reported_at": timestamp(overview.time),
            "host": .object([
                "name": .optional(host.name), "machine_id": .optional(host.machineID),
                "boot_id": .string(host.bootID), "version": .string(host.version),
            ]),
            "moves_gates": .bool(overview.movesGates),
            "configuration_refused": .bool(overview.isConfigurationRefused),
            "status": .optional(status?.rawValue),
        ]
        // The services are written one by one: a host may have ten thousand.
        var bytes = JSON.Value.object(head).serializedBytes(room: services.count + Self.usualSize)
        bytes.removeLast()
        bytes += ",\"services\":[".utf8
        bytes += services
        bytes += "]}\n".utf8
        self.bytes = bytes
    }
}
