import CivilTime

extension ValueType where Value == Zone {
    /// The IANA name of a time zone that `zones` knows.
    static func zone(of zones: some Zones) -> Self {
        Self(expected: "the name of a time zone such as \"Asia/Tokyo\"") {
            value throws(ValueProblem) in
            guard case .string(let name) = value else { throw .wrongType() }
            do throws(ZoneProblem) {
                return try zones.zone(named: name)
            } catch {
                switch error {
                case .unknown:
                    let meant = nearest(to: name, among: zones.names)
                    throw .unknown("time zone", hint: meant.map { "did you mean \($0.quoted)?" })
                case .unreadable(let cause):
                    throw .bad("time zone", cause: cause)
                }
            }
        } write: {
            $0.name.tomlText
        }
    }
}
