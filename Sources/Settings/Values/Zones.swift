package import CivilTime

/// A supply of time zones: the files of the system, or a list in a test.
package protocol Zones {
    /// The zone of services that name none.
    func systemZone() throws(ZoneProblem) -> Zone

    /// The names that `zone(named:)` knows, for "did you mean". May be empty.
    var names: [String] { get }

    /// The zone of an IANA name, such as `Asia/Tokyo`.
    func zone(named name: String) throws(ZoneProblem) -> Zone
}

/// Why a time zone is not available.
package enum ZoneProblem: Error, Hashable, Sendable {
    case unknown
    /// The file of the zone exists and cannot be used, for this cause.
    case unreadable(cause: String)

    /// The problem as a clause after the zone's name.
    var clause: String {
        switch self {
        case .unknown: "is not known"
        case .unreadable(let cause): "cannot be read: \(cause)"
        }
    }
}

extension ValueType where Value == Zone {
    /// The IANA name of a time zone in `zones`.
    static func zone(of zones: some Zones) -> Self {
        Self(expected: "the name of a time zone such as \"Asia/Tokyo\"", text: \.name) {
            name throws(ValueProblem) in
            do throws(ZoneProblem) {
                return try zones.zone(named: name)
            } catch {
                switch error {
                case .unreadable(let cause): throw .bad("time zone", cause: cause)
                case .unknown:
                    let meant = nearest(to: name, among: zones.names)
                    throw .unknown("time zone", hint: meant.map { "did you mean \($0.quoted)?" })
                }
            }
        }
    }
}
