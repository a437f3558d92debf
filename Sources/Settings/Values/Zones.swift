package import CivilTime

/// A supply of time zones: the files of the system, or a list in a test.
package struct Zones: Sendable {
    let system: @Sendable () throws -> Zone
    let named: @Sendable (String) throws -> Zone?
    let names: @Sendable () -> [String]

    /// Zones by these functions. They throw if the file of a zone exists and cannot be used.
    ///
    /// - Parameters:
    ///   - system: The zone of services that name none.
    ///   - named: The zone of an IANA name, such as `Asia/Tokyo`; nil without such a zone.
    ///   - names: The names that `named` knows, for "did you mean". May be empty.
    package init(
        system: @escaping @Sendable () throws -> Zone,
        named: @escaping @Sendable (String) throws -> Zone?,
        names: @escaping @Sendable () -> [String]
    ) {
        self.system = system
        self.named = named
        self.names = names
    }
}

extension ValueType where Value == Zone {
    /// The IANA name of a time zone in `zones`.
    static func zone(of zones: Zones) -> Self {
        Self(expected: "the name of a time zone such as \"Asia/Tokyo\"", text: { $0.name }) {
            name throws(ValueProblem) in
            let zone: Zone?
            do {
                zone = try zones.named(name)
            } catch {
                throw .bad("time zone", cause: "\(error)")
            }
            if let zone { return zone }
            let meant = nearest(to: name, among: zones.names())
            throw .unknown("time zone", hint: meant.map { "did you mean \($0.quoted)?" })
        }
    }
}
