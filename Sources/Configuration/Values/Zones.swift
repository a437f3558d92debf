package import CivilTime

/// A supply of time zones: the files of the system, or a list in a test. Each is read once.
package final class Zones {
    let names: () -> [String]
    private var readZone: Result<Zone, any Error>?
    private let readSystem: () throws -> Zone
    private let readNamed: (String) throws -> Zone?
    private var named: [String: Zone] = [:]

    /// Zones by these functions, which throw if the file of a zone exists and cannot be used: the zone of services
    /// that name none, that of an IANA name, or nil, and the known names, for "did you mean".
    package init(
        system: @escaping () throws -> Zone, named: @escaping (String) throws -> Zone?,
        names: @escaping () -> [String]
    ) {
        readSystem = system
        readNamed = named
        self.names = names
    }

    /// The zone of services that name none.
    var system: Result<Zone, any Error> {
        let zone = readZone ?? Result { try readSystem() }
        readZone = zone
        return zone
    }

    /// The zone of an IANA name; nil without such a zone.
    func zone(named name: String) throws -> Zone? {
        if let zone = named[name] { return zone }
        let zone = try readNamed(name)
        named[name] = zone
        return zone
    }
}

extension ValueType where Value == Zone {
    /// The IANA name of a time zone in `zones`.
    static func zone(of zones: Zones) -> Self {
        Self(expected: "the name of a time zone such as \"Asia/Tokyo\"", text: { $0.name }) {
            name throws(ValueProblem) in
            let zone: Zone?
            do {
                zone = try zones.zone(named: name)
            } catch {
                throw .bad("time zone", cause: "\(error)")
            }
            if let zone { return zone }
            let meant = nearest(to: name, among: zones.names())
            throw .unknown("time zone", hint: meant.map { "did you mean \($0.quoted)?" })
        }
    }
}
