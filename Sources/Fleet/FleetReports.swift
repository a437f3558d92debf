package import CivilTime
package import Decision
import JSON

/// The last reports of hosts, one for each; docs/host.schema.json describes them.
package struct FleetReports {
    private let service: ServiceName
    private let now: Instant
    private var found: [String: HostFinding] = [:]

    package init(about service: ServiceName, at now: Instant) {
        (self.service, self.now) = (service, now)
    }

    package var findings: [HostFinding] { Array(found.values) }

    /// How old a report may be. A host repeats it every 15 minutes at least, and after a failure within 5.
    package static let longestSilence: Duration = .seconds(20 * 60)
    /// How far the clock of a host may be ahead of that of this one.
    private static let clockDifference: Duration = .seconds(60)

    /// Adds the body of a report; the file has this name. A report without the service adds nothing.
    package mutating func add(_ body: [UInt8], of file: String) {
        let report: JSON.Object
        do {
            guard let object = try JSON.Value.parse(body).object, object["schema"] == 1 else {
                return add(unreadable: "'\(file)' is no report of killswitchd", of: file)
            }
            report = object
        } catch {
            return add(unreadable: "'\(file)' is no JSON: \(error)", of: file)
        }
        let sender = report["host"]?.object ?? [:]
        let id = sender["machine_id"]?.string ?? file
        let host = FleetHost(
            id: id.printable(limit: 128),
            name: (sender["name"]?.string ?? id).printable(limit: 128), aliases: [file.stem])
        guard let services = report["services"]?.array, let text = report["reported_at"]?.string,
            let time = Self.instant(text)
        else { return add(unreadable: "'\(file)' is no report of killswitchd", of: file) }
        let own = services.compactMap(\.object).filter { $0["service"]?.string == service.text }
        guard let first = own.first else { return }
        let content: HostFinding.Content =
            if found[id] != nil {
                .unknown("several reports have its machine id")
            } else if own.count > 1 {
                .unknown("its report has the service more than once")
            } else {
                content(first, in: report, at: time)
            }
        found[id] = HostFinding(host, content)
    }

    /// Adds a file that is no report: its name is all that is known of the host.
    package mutating func add(unreadable why: String, of file: String) {
        found["\u{0}\(file)"] = HostFinding(
            FleetHost(id: file, name: file.stem.printable(limit: 128)), .unknown(why))
    }

    private static func instant(_ text: String) -> Instant? {
        do { return try Instant(rfc3339: text) } catch { return nil }
    }

    private func content(
        _ own: JSON.Object, in report: JSON.Object, at time: Instant
    ) -> HostFinding.Content {
        let age = now - time
        guard age >= .zero - Self.clockDifference else {
            return .unknown(
                "its clock is \((.zero - age).wholeSeconds) s ahead of that of this host")
        }
        guard age <= Self.longestSilence else {
            return .silent("its last report was made \(age.wholeSeconds) s ago")
        }
        guard let state = own["state"]?.string.flatMap(State.init(rawValue:)),
            let gate = own["gate"].map({ $0.string.flatMap(Gate.init(rawValue:)) }),
            (gate == nil) == (own["gate"] == .null), let moves = report["moves_gates"]?.bool
        else { return .unknown("its report has no state that is known here") }
        return .account(
            HostAccount(
                state: state, gate: gate, reason: own["reason"]?.string?.printable(limit: 64),
                version: own["version"]?.string?.printable(limit: 128),
                effect: moves ? Self.effect(own, of: gate) : .unmoved,
                warning: warning(own, in: report),
                obstacle: own["held"]?.bool == true
                    ? "the host guard holds its closing until 'killswitchctl confirm'" : nil,
                at: time))
    }

    private static func effect(_ own: JSON.Object, of gate: Gate?) -> HostAccount.Effect {
        let error = own["error_message"]?.string?.printable(limit: 200)
        let units = (own["units"]?.array ?? []).compactMap(\.object)
        let unit = units.first { $0["as_wanted"] == false }?["name"]?.string?.printable(limit: 128)
        let actual = own["actual"]?.string?.printable(limit: 20) ?? "not known"
        switch own["status"]?.string {
        case "applied":
            guard let gate, actual == gate.rawValue, own["units_unwanted"] == 0 else {
                return .unknown("its report contradicts itself: applied, and the gate is \(actual)")
            }
            return .complete
        case "applying":
            let direction = gate == .open ? "down" : "up"
            return .underWay(
                error ?? unit.map { "unit '\($0)' is \(direction)" } ?? "its gate is \(actual)")
        case "failed":
            return .failed(error ?? "its gate is \(actual)")
        default: return .unknown("its report does not tell how its gate is")
        }
    }

    /// Why newer flags may not have reached the host.
    private func warning(_ own: JSON.Object, in report: JSON.Object) -> String? {
        if own["stale"]?.bool == true { return "its flags are stale" }
        for source in (report["sources"]?.array ?? []).compactMap(\.object) {
            guard let error = source["error_message"]?.string else { continue }
            let name = (source["source"]?.string ?? "").printable(limit: 64)
            return "source '\(name)': \(error.printable(limit: 200))"
        }
        return nil
    }
}

extension String {
    /// A file's name without `.json`.
    fileprivate var stem: String { hasSuffix(".json") ? String(dropLast(5)) : self }
}
