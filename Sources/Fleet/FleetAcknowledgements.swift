package import CivilTime
package import Decision
import JSON
import Reports

/// What hosts have said of a service in etcd: a key for each, which anybody with the right to write there may have put.
package struct FleetAcknowledgements {
    private let service: ServiceName
    private let prefix: [UInt8]
    private let now: Instant
    package private(set) var findings: [HostFinding] = []

    /// How long after its time a host may repeat itself: a put that fails is tried again within 5 minutes.
    package static let grace: Duration = .seconds(5 * 60)
    /// How far the clock of a host may be ahead of that of this one.
    private static let clockDifference: Duration = .seconds(60)

    /// The keys of a service have this prefix.
    package init(of service: ServiceName, under prefix: String, at now: Instant) {
        (self.service, self.prefix, self.now) = (service, Array(prefix.utf8), now)
    }

    /// Adds a key and its value.
    package mutating func add(_ key: [UInt8], _ value: [UInt8]) {
        let name = String(decoding: key.dropFirst(prefix.count), as: UTF8.self)
        let id = name.printable(limit: 128)
        do throws(ReadAcknowledgement.Refusal) {
            let read = try ReadAcknowledgement(value)
            let named = read.acknowledgement.host
            let host = FleetHost(
                id: id, name: named.isEmpty ? id : named.printable(limit: 128))
            findings.append(HostFinding(host, content(of: read)))
        } catch {
            findings.append(
                HostFinding(FleetHost(id: id, name: id), .unknown(error.description)))
        }
    }

    private func content(of read: ReadAcknowledgement) -> HostFinding.Content {
        guard read.at - now <= Self.clockDifference else {
            return .unknown(
                "its clock is \((read.at - now).wholeSeconds) s ahead of that of this host")
        }
        guard now <= read.next + Self.grace else {
            return .silent(
                "it has said nothing for \((now - read.at).wholeSeconds) s, and promised to within "
                    + "\((read.next - read.at).wholeSeconds) s")
        }
        let words = read.acknowledgement
        return .account(
            HostAccount(
                state: words.state, gate: words.gate,
                version: words.version?.printable(limit: 128), effect: words.effect,
                obstacle: words.isHeld
                    ? "a closing is held there until 'killswitchctl confirm \(service)'" : nil,
                at: read.at))
    }
}

extension Acknowledgement {
    fileprivate var effect: HostAccount.Effect {
        switch status {
        case .applied: .complete
        case .applying: .underWay(words ?? "its gate is being moved")
        case .failed: .failed(words ?? "its gate cannot be moved; see 'killswitchctl status' there")
        case nil: .unmoved
        }
    }

    /// The units that are not as wanted, as a clause; nil without one.
    private var words: String? {
        guard unwanted > 0 else { return nil }
        let named = units.prefix(3).map { "'\($0.printable(limit: 64))'" }
        let rest = unwanted - named.count
        let list = named.joined(separator: ", ")
        let end = rest <= 0 ? "" : named.isEmpty ? "\(rest) units" : " and \(rest) more"
        let wanted = gate == .open ? "up" : "down"
        return "\(named.isEmpty ? "" : "unit")\(named.count > 1 ? "s" : "")"
            + (named.isEmpty ? "" : " ") + list + end
            + (unwanted > 1 ? " are not \(wanted)" : " is not \(wanted)")
    }
}
