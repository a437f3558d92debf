package import CivilTime
package import Decision
package import Gates
package import JSON

/// The state of the whole host as one document, which docs/host.schema.json describes: `host.json` in the runtime
/// directory, and the same bytes for the server of `[report]`.
///
/// That a source confirms its flags is no part of it: `source.NAME` has that time.
package struct HostDocument {
    /// What it tells beside the machines.
    package struct Facts {
        /// The name of the host, the id of this machine for killswitchd alone, the boot, the version of the daemon.
        package var host: JSON.Object
        package var origins: [SourceName: SourceOrigin] = [:]
        /// How old the last good drill of each service may be that asks for drills.
        package var drillIntervals: [ServiceName: Duration] = [:]

        package init(name: String?, machineID: String?, bootID: String, version: String) {
            host = [
                "name": .optional(name), "machine_id": .optional(machineID),
                "boot_id": .string(bootID), "version": .string(version),
            ]
        }
    }

    private let head: JSON.Object
    private let lists: [(name: String, list: List)]
    /// Differs from that of another document where a byte of them differs, but for number and time.
    package let content: Int
    /// Differs where the documents tell other news: the words of a failure may tell of its duration, and are none.
    package let fingerprint: Int

    /// The state at the time of the overview.
    package init(_ facts: Facts, _ overview: Overview, _ gates: GateMachine?) {
        let services = overview.services.map { ServiceReport($0, in: overview, gates) }
        let statuses = Set(services.compactMap(\.status))
        let worst: [ServiceReport.Status] = [.failed, .applying, .applied]
        let refusal = overview.condition.refusal
        var (fingerprint, findings) = (Hasher(), List(limit: 320 << 10))
        var (sourceList, serviceList) = (List(limit: 128 << 10), List(limit: 512 << 10))
        var counts: [ServiceName: Int] = [:]
        for finding in overview.findings {
            if let service = finding.subject.services.first {
                counts[service, default: 0] += 1
                if counts[service, default: 0] > Self.mostFindings { continue }
            }
            findings.add(finding.json(at: overview.now))
            fingerprint.combine(finding.kind)
            fingerprint.combine(finding.subject)
        }
        for source in overview.sources {
            sourceList.add(source.json(facts.origins[source.name], overview))
            fingerprint.combine(source.name)
            fingerprint.combine(source.problem == nil)
            fingerprint.combine(source.warnings)
        }
        for service in services {
            serviceList.add(service.json(drillEvery: facts.drillIntervals[service.name]))
        }
        head = [
            "schema": 1, "generation": .null, "reported_at": .null,
            "host": .object(facts.host),
            "configuration": .object([
                "refused": .optional(refusal?.printable(limit: 4000))
            ]),
            "moves_gates": .bool(overview.condition.gates != nil),
            "status": .optional(worst.first(where: statuses.contains)?.rawValue),
            "left_out": .object([
                "findings": findings.leftOut, "sources": sourceList.leftOut,
                "services": serviceList.leftOut,
            ]),
        ]
        lists = [("findings", findings), ("sources", sourceList), ("services", serviceList)]
        fingerprint.combine(refusal == nil)
        fingerprint.combine(serviceList.bytes)
        self.fingerprint = fingerprint.finalize()
        var content = Hasher()
        content.combine(head)
        for (_, list) in lists { content.combine(list.bytes) }
        self.content = content.finalize()
    }

    /// The document in UTF-8. A receiver that has one of this machine with this generation or a later one may drop it.
    package func bytes(generation: Int64, at time: Instant) -> [UInt8] {
        var head = head
        head["generation"] = .number(Number(generation))
        head["reported_at"] = timestamp(time)
        var bytes = JSON.Value.object(head).serializedBytes()
        bytes.removeLast()
        for (name, list) in lists { bytes += Array(",\"\(name)\":[".utf8) + list.bytes + [0x5D] }
        return bytes + Array("}\n".utf8)
    }

    /// How many findings of one service it has.
    private static let mostFindings = 64

    /// A list of objects in at most so many bytes: what does not fit is counted.
    private struct List {
        let limit: Int
        private(set) var bytes: [UInt8] = []
        private var missing: Int64 = 0

        init(limit: Int) { self.limit = limit }

        var leftOut: JSON.Value { .number(Number(missing)) }

        mutating func add(_ object: JSON.Object) {
            let new = JSON.Value.object(object).serializedBytes()
            guard bytes.count + new.count < limit else {
                missing += 1
                return
            }
            if !bytes.isEmpty { bytes.append(UInt8(ascii: ",")) }
            bytes += new
        }
    }
}

/// Where the flags of a source come from, as everybody may see it.
package struct SourceOrigin: Hashable, Sendable {
    /// The word of the configuration: `http`.
    package let type: String
    /// Scheme, host and port of each address, such as `https://flags.example.com:8443`; none of a file.
    package let addresses: [String]

    /// An origin of these addresses, of which no other part is kept.
    package init(type: String, urls: [String]) {
        self.type = type
        addresses = urls.map { url in
            let parts = url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, parts[1].isEmpty else { return "" }
            let authority = parts[2].prefix { !"/?#".contains($0) }
            let host = authority.lastIndex(of: "@").map { authority[$0...].dropFirst() }
            return "\(parts[0])//\(host ?? authority)".printable(limit: 300)
        }
    }
}

extension Overview {
    /// Whether each service is decided, and as wanted or past its limit.
    package func isSettled(_ gates: GateMachine?) -> Bool {
        services.allSatisfy { ServiceReport($0, in: self, gates).isSettled }
    }
}

extension Overview.SourceView {
    private static let mostWarnings = 8

    /// The object in the document.
    fileprivate func json(_ origin: SourceOrigin?, _ overview: Overview) -> JSON.Object {
        [
            "source": .string(name.text),
            "type": .optional(origin?.type),
            "addresses": .strings(origin?.addresses ?? []),
            "interval_ms": .number(Number(interval.microseconds / 1000)),
            "answers": since == nil ? .null : .bool(problem == nil),
            "since": timestamp(since),
            "changed_at": timestamp(fetchedAt),
            "changed_by": .strings(authors),
            "error_message": .optional(problem?.printable(limit: 1000)),
            "warnings": .strings(
                warnings.prefix(Self.mostWarnings).map { $0.printable(limit: 500) }),
            "services": .strings(overview.followers(of: name).map(\.text)),
        ]
    }
}
