import Bus
import Decision

/// The signals of units. One rule for each, so that a host whose other units come and go all day
/// does not wake us; and one rule for all where there would be more than a connection may have (512,
/// dbus-daemon(1), `max_match_rules_per_connection`).
struct UnitSignals {
    private let bus: Bus
    private let heard: (UnitName, Seen) -> Void
    private var matches: [UnitName: Match] = [:]
    private var all: Match?
    private var followed: Set<UnitName> = []

    private static let limit = 400

    init(_ bus: Bus, heard: @escaping (UnitName, Seen) -> Void) {
        self.bus = bus
        self.heard = heard
    }

    /// Hears of exactly these units.
    mutating func follow(_ units: Set<UnitName>) throws(BusError) {
        followed = units
        if units.count > Self.limit {
            matches = [:]
            // A unit that is not ours costs a look at its path; the machine drops it.
            if all == nil { all = try match("path_namespace='\(ObjectPath.manager)/unit'") }
            return
        }
        all = nil
        matches = matches.filter { units.contains($0.key) }
        for unit in units where matches[unit] == nil {
            matches[unit] = try match("path='\(ObjectPath.of(unit))'")
        }
    }

    private func match(_ filter: String) throws(BusError) -> Match {
        let heard = heard
        return try Match(
            bus,
            "type='signal',sender='org.freedesktop.systemd1',member='PropertiesChanged',"
                + "interface='org.freedesktop.DBus.Properties',"
                + "arg0='org.freedesktop.systemd1.Unit',\(filter)"
        ) { message in
            // A signal that cannot be read tells nothing: the unit stays as it was known.
            guard let unit = ObjectPath.unit(message.path),
                case .success(let seen?) = Result(catching: { () throws(BusError) in
                    try message.seen()
                })
            else { return }
            heard(unit, seen)
        }
    }
}
