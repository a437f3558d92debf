import CivilTime
package import Decision
package import Gates
package import JSON

/// The state of the whole host as one JSON document, which docs/report.schema.json describes.
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

    private let document: JSON.Object
    /// Differs from that of another report where the reports tell different things, but for times.
    package let fingerprint: Int

    /// The state at the time of the overview.
    package init(of host: JSON.Object, _ overview: Overview, _ gates: GateMachine?) {
        let services = overview.services.map { ServiceReport($0, in: overview, gates) }
        let sources = Array(overview.sources)
        let statuses = Set(services.compactMap(\.status))
        let worst: [ServiceReport.Status] = [.failed, .applying, .applied]
        let isRefused = overview.condition.refusal != nil
        document = [
            "schema": 1,
            "generation": .null,
            "reported_at": timestamp(overview.now.wall),
            "host": .object(host),
            "moves_gates": .bool(overview.condition.gates != nil),
            "configuration_refused": .bool(isRefused),
            "status": .optional(worst.first(where: statuses.contains)?.rawValue),
            "services": .array(services.map { .object($0.json) }),
            "sources": .array(sources.map { .object($0.json) }),
        ]
        var hasher = Hasher()
        hasher.combine(isRefused)
        hasher.combine(document["services"])
        for source in sources {
            // That a source confirms its flags is no news, and the words of a failure may tell of its duration.
            hasher.combine(source.name)
            hasher.combine(source.problem == nil)
            hasher.combine(source.warnings)
        }
        fingerprint = hasher.finalize()
    }

    /// The document in UTF-8. A receiver that has a report of this machine with this generation or a later one may drop
    /// it.
    package func bytes(generation: Int64) -> [UInt8] {
        var document = document
        document["generation"] = .number(Number(generation))
        return JSON.Value.object(document).serializedBytes() + [UInt8(ascii: "\n")]
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
