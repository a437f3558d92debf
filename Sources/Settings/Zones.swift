package import CivilTime

/// Where time zones come from: the files of the system, or a list in a test.
package protocol Zones {
    /// The zone that holds where a service names none.
    func systemZone() throws(ZoneProblem) -> Zone

    /// All names that `zone(named:)` knows, for "did you mean". May be empty.
    var names: [String] { get }

    /// The zone of an IANA name, such as `Asia/Tokyo`.
    func zone(named name: String) throws(ZoneProblem) -> Zone
}

/// Why a time zone cannot be had.
package enum ZoneProblem: Error, Hashable, Sendable {
    case unknown
    /// There is one of this name, and this is what is wrong with it.
    case unreadable(cause: String)
}

extension ZoneProblem {
    /// What is wrong, behind the zone's name.
    var clause: String {
        switch self {
        case .unknown: "is not known"
        case .unreadable(let cause): "cannot be read: \(cause)"
        }
    }
}
