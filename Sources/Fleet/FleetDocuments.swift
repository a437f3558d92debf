package import CivilTime
package import Decision
import JSON
package import Reports

/// What hosts say of themselves, a document for each: `host.json`, which docs/host.schema.json describes, or its brief.
/// Anybody with the right to write there may have written it.
package struct FleetDocuments {
    private let service: ServiceName
    private let now: Instant
    package private(set) var findings: [HostFinding] = []

    package init(about service: ServiceName, at now: Instant) {
        (self.service, self.now) = (service, now)
    }

    /// How old a document may be, or the sign of life beside it.
    package static let longestSilence = Telling.period + Telling.grace
    /// How far the clock of a host may be ahead of that of this one.
    private static let clockDifference: Duration = .seconds(60)

    /// Adds a document. `key` is the name that others give the host: that of the file, or the key of etcd. A document
    /// without the service adds nothing.
    package mutating func add(_ body: [UInt8], of key: String, sign: SignOfLife? = nil) {
        let document: JSON.Object
        do {
            guard let object = try JSON.Value.parse(body).object, object["schema"] == 1 else {
                return add(unreadable: "it is no document of killswitchd", of: key)
            }
            document = object
        } catch {
            return add(unreadable: "it is no JSON: \(error)", of: key)
        }
        guard let services = document["services"]?.array,
            let time = document["reported_at"]?.string.flatMap(Self.instant)
        else { return add(unreadable: "it is no document of killswitchd", of: key) }
        let named = document["host"]?.object?["name"]?.string?.printable(limit: 128)
        let host = FleetHost(id: key.printable(limit: 128), name: named)
        let own = services.compactMap(\.object).filter { $0["service"]?.string == service.text }
        guard let first = own.first else {
            let leftOut = document["left_out"]?.object?["services"]?.number?.int64 ?? 0
            guard leftOut > 0 else { return }
            return findings.append(
                HostFinding(
                    host, .unknown("it says nothing of '\(service)', and not of all its services")))
        }
        guard own.count == 1 else {
            return findings.append(
                HostFinding(host, .unknown("its document has the service more than once")))
        }
        let seen = sign.flatMap { $0.isBeside(body) ? max($0.at, time) : nil } ?? time
        findings.append(HostFinding(host, content(first, in: document, at: seen)))
    }

    /// Adds a document that cannot be read: its key is all that is known of the host.
    package mutating func add(unreadable why: String, of key: String) {
        findings.append(HostFinding(FleetHost(id: key.printable(limit: 128)), .unknown(why)))
    }

    private static func instant(_ text: String) -> Instant? {
        do { return try Instant(rfc3339: text) } catch { return nil }
    }

    private func content(
        _ own: JSON.Object, in document: JSON.Object, at time: Instant
    ) -> HostFinding.Content {
        let age = now - time
        guard age >= .zero - Self.clockDifference else {
            return .unknown(
                "its clock is \((.zero - age).wholeSeconds) s ahead of that of this host")
        }
        guard age <= Self.longestSilence else {
            return .silent("it has said nothing for \(age.wholeSeconds) s")
        }
        guard let state = own["state"]?.string.flatMap(State.init(rawValue:)),
            let gate = own["gate"].map({ $0.string.flatMap(Gate.init(rawValue:)) }),
            (gate == nil) == (own["gate"] == .null), let moves = document["moves_gates"]?.bool
        else { return .unknown("its document has no state that is known here") }
        return .account(
            HostAccount(
                state: state, gate: gate, reason: own["reason"]?.string?.printable(limit: 64),
                version: own["version"]?.string?.printable(limit: 128),
                effect: moves ? Self.effect(own, of: gate) : .withoutGates,
                warning: warning(own, in: document),
                obstacle: own["held"]?.bool == true
                    ? "the host guard holds its closing until 'killswitchctl confirm'" : nil,
                at: time))
    }

    private static func effect(_ own: JSON.Object, of gate: Gate?) -> HostAccount.Effect {
        let error = own["error_message"]?.string?.printable(limit: 200)
        let actual = own["actual"]?.string?.printable(limit: 20)
        if own["enforced"] == false { return .observed }
        let named = unwanted(own)
        let units = clause(own, named, of: gate)
        switch own["status"]?.string {
        case "applied":
            guard let gate, actual ?? gate.rawValue == gate.rawValue, named.isEmpty,
                own["units_unwanted"] == 0
            else {
                return .unknown("its document contradicts itself: applied, and the gate is not")
            }
            return .complete
        case "applying":
            return .underWay(error ?? units ?? "its gate is \(actual ?? "being moved")")
        case "failed":
            let gate = actual.map { "its gate is \($0)" } ?? "its gate cannot be moved"
            return .failed(error ?? units ?? "\(gate); see 'killswitchctl status' there")
        default: return .unknown("its document does not tell how its gate is")
        }
    }

    /// The names of units that are not as the gate wants them: `host.json` has an object for each unit, its brief these
    /// names.
    private static func unwanted(_ own: JSON.Object) -> [String] {
        (own["units"]?.array ?? []).compactMap { unit in
            unit.string
                ?? unit.object.flatMap { $0["as_wanted"] == false ? $0["name"]?.string : nil }
        }
    }

    /// These units and how many more there are, as a clause; nil without one.
    private static func clause(
        _ own: JSON.Object, _ units: [String], of gate: Gate?
    ) -> String? {
        guard let count = own["units_unwanted"]?.number?.int64, count > 0 else { return nil }
        let named = units.prefix(3).map { "'\($0.printable(limit: 64))'" }.joined(separator: ", ")
        let wanted = gate == .open ? "up" : "down"
        let more = count - Int64(min(units.count, 3))
        if named.isEmpty { return "\(count) \(count == 1 ? "unit is" : "units are") not \(wanted)" }
        return count == 1
            ? "unit \(named) is not \(wanted)"
            : "units \(named)\(more > 0 ? " and \(more) more" : "") are not \(wanted)"
    }

    /// Why newer flags may not have reached the host.
    private func warning(_ own: JSON.Object, in document: JSON.Object) -> String? {
        if own["stale"]?.bool == true { return "its flags are stale" }
        for source in (document["sources"]?.array ?? []).compactMap(\.object) {
            guard let error = source["error_message"]?.string else { continue }
            let name = (source["source"]?.string ?? "").printable(limit: 64)
            return "source '\(name)': \(error.printable(limit: 200))"
        }
        return nil
    }
}
