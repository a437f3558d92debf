package import CivilTime
package import Decision
package import Gates
import JSON

/// What a host says of a service in one key of etcd: what it has decided, and whether its units have obeyed, as
/// `gate.json` tells. It has no time of its own, so that two of them are equal if they say the same.
///
/// The key is for everybody who asks which hosts of a fleet have obeyed; nothing decides by it.
package struct Acknowledgement: Hashable, Sendable {
    /// How far the host is, in the words of a report.
    package enum Status: String, CaseIterable, Sendable {
        /// The gate is being moved, or units have not obeyed yet.
        case applying
        /// The gate and every unit are as decided, as systemd shows them.
        case applied
        /// A unit or the gate is not as decided, and will not be by itself.
        case failed
    }

    /// The name of the host; empty if it has none.
    package var host: String
    package var state: State
    package var gate: Gate
    /// The version of the flags that have decided; nil where no flags have.
    package var version: String?
    /// Nil if the daemon moves no gates: then nobody knows what units do.
    package var status: Status?
    /// Whether the host guard holds a closing, so that the gate is open against the flags.
    package var isHeld = false
    /// How many units are not as the gate wants them.
    package var unwanted = 0
    /// Some of their names: as many as there is room for.
    package var units: [String] = []

    /// The most bytes of a text: etcd keeps every key of every host in memory.
    package static let sizeLimit = 512
    private static let hostLimit = 80
    private static let versionLimit = 100
    /// More names than ever fit.
    private static let mostUnits = 40

    package init(host: String, state: State, gate: Gate, version: String?, status: Status?) {
        (self.host, self.state, self.gate) = (host, state, gate)
        (self.version, self.status) = (version, status)
    }
}

/// What a host says of a service now, and whether it will say something else soon.
package struct AcknowledgedService {
    package let acknowledgement: Acknowledgement
    /// Whether each unit is as wanted or past its limit.
    package let isSettled: Bool

    /// Nil for a service that is unknown or undecided. `host` is the name of this host.
    package init?(
        _ service: ServiceName, of host: String?, in overview: Overview, _ gates: GateMachine?
    ) {
        guard let view = overview.service(service), let record = view.record,
            let gate = record.verdict.gate
        else { return nil }
        let report = ServiceReport(view, in: overview, gates)
        var acknowledgement = Acknowledgement(
            host: host ?? "", state: record.verdict.state, gate: gate,
            version: record.verdict.version,
            // Without gates the report goes by the files, and nobody has looked at systemd.
            status: overview.condition.gates == nil ? nil : report.status?.acknowledged)
        acknowledgement.isHeld = view.isHeld
        acknowledgement.setUnits(report.unwanted)
        self.acknowledgement = acknowledgement
        isSettled = report.isSettled
    }
}

extension Acknowledgement {
    fileprivate mutating func setUnits(_ unwanted: Set<UnitName>) {
        self.unwanted = unwanted.count
        units = unwanted.sorted().prefix(Self.mostUnits).map(\.text)
    }

    /// The value of the key, at most `sizeLimit` bytes: it is said at `now`, and again before `next` if the host lives.
    package func bytes(at now: Instant, next: Instant) -> [UInt8] {
        var object: JSON.Object = [
            "schema": 1,
            "host": .string(host.fitting(Self.hostLimit)),
            "state": .string(state.rawValue),
            "gate": .string(gate.rawValue),
            "version": .optional(version?.fitting(Self.versionLimit)),
            "status": .optional(status?.rawValue),
            "units_unwanted": .number(Number(Int64(unwanted))),
            "units": [],
            "at": .string(Zone.utc.rfc3339(now)),
            "next": .string(Zone.utc.rfc3339(next)),
        ]
        if isHeld { object["held"] = .bool(true) }
        var bytes = JSON.Value.object(object).serializedBytes()
        var named: [JSON.Value] = []
        for unit in units {
            named.append(.string(unit))
            object["units"] = .array(named)
            let longer = JSON.Value.object(object).serializedBytes()
            guard longer.count <= Self.sizeLimit else { break }
            bytes = longer
        }
        return bytes
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

extension ServiceReport.Status {
    fileprivate var acknowledged: Acknowledgement.Status {
        switch self {
        case .applying: .applying
        case .applied: .applied
        case .failed: .failed
        }
    }
}

// MARK: Reading

/// An acknowledgement as it is read from the value of a key, which anybody may have written.
package struct ReadAcknowledgement: Hashable, Sendable {
    package let acknowledgement: Acknowledgement
    /// When the host has said it, by its own clock.
    package let at: Instant
    /// By when it says it again, if it lives.
    package let next: Instant

    /// Why a value is not understood, as a clause.
    package struct Refusal: Error, Hashable, CustomStringConvertible {
        package let description: String
        fileprivate init(_ description: String) { self.description = description }
    }

    /// How far `next` may be after `at`: a host cannot declare itself alive for a day.
    private static let longestPeriod: Duration = .seconds(3600)

    /// Reads the value of a key.
    package init(_ bytes: [UInt8]) throws(Refusal) {
        guard bytes.count <= Acknowledgement.sizeLimit else {
            throw Refusal(
                "its acknowledgement has \(bytes.count) bytes, and \(Acknowledgement.sizeLimit) are the most"
            )
        }
        guard case .success(.object(let object)) = Result(catching: { try JSON.Value.parse(bytes) })
        else { throw Refusal("its acknowledgement is not a JSON object") }
        guard object["schema"]?.number?.int64 == 1 else {
            throw Refusal("its acknowledgement is not of schema 1, which this version reads")
        }
        func text(_ name: String) throws(Refusal) -> String {
            guard let text = object[name]?.string else {
                throw Refusal("its acknowledgement has no '\(name)', or no text there")
            }
            return text
        }
        func word<Word: RawRepresentable<String>>(
            _ name: String, _ type: Word.Type
        ) throws(Refusal) -> Word {
            guard let word = Word(rawValue: try text(name)) else {
                throw Refusal("its acknowledgement has an unknown word for '\(name)'")
            }
            return word
        }
        func time(_ name: String) throws(Refusal) -> Instant {
            let text = try text(name)
            guard case .success(let time) = Result(catching: { try Instant(rfc3339: text) }) else {
                throw Refusal("its acknowledgement has no time at '\(name)'")
            }
            return time
        }
        let status =
            object["status"] == .null ? nil : try word("status", Acknowledgement.Status.self)
        var read = Acknowledgement(
            host: try text("host"), state: try word("state", State.self),
            gate: try word("gate", Gate.self), version: object["version"]?.string, status: status)
        guard let count = object["units_unwanted"]?.number?.int64, (0...1_000_000).contains(count)
        else { throw Refusal("its acknowledgement does not count the units") }
        read.unwanted = Int(count)
        read.units = (object["units"]?.array ?? []).compactMap(\.string)
        read.isHeld = object["held"]?.bool ?? false
        (at, next) = (try time("at"), try time("next"))
        guard next >= at, next - at <= Self.longestPeriod else {
            throw Refusal("its acknowledgement has times that no host writes")
        }
        guard status != .applied || count == 0, read.units.count <= count, read.state != .undecided
        else {
            throw Refusal("its acknowledgement contradicts itself")
        }
        acknowledgement = read
    }
}
