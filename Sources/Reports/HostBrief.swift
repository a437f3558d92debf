package import CivilTime
package import Decision
package import Gates
import JSON

/// `host.json` in at most 4 KiB, for one key of etcd, which keeps every key of every host in memory: what the host has
/// decided of each service, and how far its units are. It has members of `host.json`, fewer of them.
///
/// The key is for everybody who asks which hosts of a fleet have obeyed; nothing decides by it.
package struct HostBrief: Hashable, Sendable {
    private let head: JSON.Object
    /// Those for which there is room.
    private let services: [JSON.Object]

    /// The most bytes.
    package static let sizeLimit = 4096
    private static let nameLimit = 80
    fileprivate static let versionLimit = 100
    /// For the time, the braces and the longest count of services that are left out.
    private static let rest = 120

    /// What it says of one service.
    package struct Service {
        let name: ServiceName
        let state: State
        let gate: Gate
        let version: String?
        /// What systemd shows; nil if nobody moves the gate, so that nobody looks.
        let status: ServiceReport.Status?
        /// Whether the host guard holds a closing, so that the gate is open against the flags.
        package var isHeld = false
        /// False if the service is only observed.
        package var isEnforced = true
        /// The units that are not as the gate wants them.
        package var unwanted: [UnitName] = []

        package init(
            _ name: ServiceName, state: State, gate: Gate, version: String?,
            status: ServiceReport.Status?
        ) {
            (self.name, self.state, self.gate) = (name, state, gate)
            (self.version, self.status) = (version, status)
        }
    }

    /// What the host is at the time of the overview. It says nothing of a service that is not decided.
    package init(
        host name: String?, bootID: String, _ overview: Overview, _ gates: GateMachine?
    ) {
        let movesGates = overview.condition.gates != nil
        var services: [Service] = []
        for view in overview.services {
            guard let verdict = view.record?.verdict, let gate = verdict.gate else { continue }
            let report = ServiceReport(view, in: overview, gates)
            var service = Service(
                view.name, state: verdict.state, gate: gate, version: verdict.version,
                status: movesGates ? report.status : nil)
            (service.isHeld, service.isEnforced) = (view.isHeld, view.isEnforced)
            service.unwanted = report.unwanted.sorted()
            services.append(service)
        }
        self.init(host: name, bootID: bootID, movesGates: movesGates, services)
    }

    /// What a host of these services is, as far as there is room: first the services, then the names of units.
    package init(
        host name: String?, bootID: String, movesGates: Bool, _ services: [Service]
    ) {
        var head: JSON.Object = [
            "schema": 1,
            "host": .object([
                "name": .optional(name?.fitting(Self.nameLimit)), "boot_id": .string(bootID),
            ]),
            "moves_gates": .bool(movesGates),
        ]
        var room = Self.sizeLimit - Self.rest - JSON.Value.object(head).serializedBytes().count
        var (shown, units): ([JSON.Object], [[UnitName]]) = ([], [])
        for service in services {
            let object = service.json
            let size = JSON.Value.object(object).serializedBytes().count + 1
            guard size <= room else { continue }
            room -= size
            shown.append(object)
            units.append(service.unwanted)
        }
        head["left_out"] = .object([
            "services": .number(Number(Int64(services.count - shown.count)))
        ])
        for (index, names) in units.enumerated() where !names.isEmpty {
            room -= #","units":[]"#.utf8.count
            let named = names.prefix { name in
                room -= name.text.utf8.count + #""",""#.utf8.count
                return room >= 0
            }
            if !named.isEmpty { shown[index]["units"] = .strings(named.map(\.text)) }
            if room < 0 { break }
        }
        (self.head, self.services) = (head, shown)
    }

    /// The value of the key.
    package func bytes(at now: Instant) -> [UInt8] {
        var document = head
        document["reported_at"] = timestamp(now)
        document["services"] = .objects(services)
        return JSON.Value.object(document).serializedBytes()
    }
}

extension HostBrief.Service {
    /// Without the names of units.
    fileprivate var json: JSON.Object {
        var object: JSON.Object = [
            "service": .string(name.text), "state": .string(state.rawValue),
            "gate": .string(gate.rawValue),
            "version": .optional(version?.fitting(HostBrief.versionLimit)),
            "status": .optional(status?.rawValue), "armed": .null,
            "units_unwanted": .number(Number(Int64(unwanted.count))),
        ]
        if isHeld { object["held"] = true }
        if !isEnforced { object["enforced"] = false }
        return object
    }
}

/// The sign of life beside a brief, in 16 bytes: its time in seconds and a hash of the brief, eight hexadecimal digits
/// each. It says that the host is still as that brief says; beside another one, such as that of a restored cluster, it
/// says nothing.
package struct SignOfLife: Hashable, Sendable {
    package let at: Instant
    private let hash: UInt32

    /// The sign of a host at this time, beside these bytes of its brief.
    package init(at: Instant, of brief: [UInt8]) {
        self.at = at
        hash = UInt32(truncatingIfNeeded: SipHash.hash(brief))
    }

    /// Reads the value of a key; nil if it is none.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == 16, bytes.allSatisfy(Self.isDigit),
            let value = UInt64(String(decoding: bytes, as: UTF8.self), radix: 16)
        else { return nil }
        at = Instant(seconds: Int64(value >> 32))
        hash = UInt32(truncatingIfNeeded: value)
    }

    /// The value of the key.
    package var bytes: [UInt8] {
        let seconds = UInt32(clamping: at.microseconds / 1_000_000)
        let digits = String(UInt64(seconds) << 32 | UInt64(hash), radix: 16)
        return Array((String(repeating: "0", count: 16 - digits.utf8.count) + digits).utf8)
    }

    /// Whether it is a sign of the host that wrote these bytes.
    package func isBeside(_ brief: [UInt8]) -> Bool { self == SignOfLife(at: at, of: brief) }

    private static func isDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte
    }
}

extension String {
    /// The text without what a terminal would not show, cut so that it has at most so many bytes as JSON.
    fileprivate func fitting(_ limit: Int) -> String {
        var text = printable(limit: limit)
        while JSON.Value.string(text).serializedBytes().count > limit {
            text.unicodeScalars.removeLast()
        }
        return text
    }
}
