import CivilTime
import Decision
import JSON

/// The keys of a `[service.NAME]`, besides the keys of its one switch.
enum ServiceKey: String, SettingKey {
    case switches = "switch"
    case timeZone = "time_zone"
    case maxStale = "max_stale"
    case whenStale = "when_stale"
    case whenUnknown = "when_unknown"
    case firstTimeout = "first_timeout"
    case atEnd = "at_end"
    case updateRequired = "update_required"
    case minClosed = "min_closed"
    case openSpread = "open_spread"
    case spreadAtBoot = "spread_at_boot"
    case drain
    case confirmClose = "confirm_close"
    case confirmOpen = "confirm_open"
    case signaturesToClose = "signatures_to_close"
    case signaturesToOpen = "signatures_to_open"
    case installedVersion = "installed_version"
    case installedVersionFile = "installed_version_file"
    case activation
    case enforce
    case notifyBefore = "notify_before"
    case `guard`
    case drillEvery = "drill_every"
    case units
    case onChange = "on_change"
    case runbook
    case page
    case lang
    case variant
    case values
}

extension Service {
    /// Reads a table `[service.NAME]`; nil after an error.
    init?(
        named member: Table.Member, from reader: TableDecoder, zones: Zones,
        _ sources: inout ConfiguredSources
    ) {
        let name: ServiceName? = reader.name(member, of: "a service")
        reader.refuseKeys(notIn: SwitchKey.words + ServiceKey.words)
        let switches = Self.switches(from: reader, of: member.key, &sources)
        let zone = reader.value(
            ServiceKey.timeZone, .zone(of: zones),
            default: Self.zone(whereUnnamedIn: reader, zones))
        if let problem = zone.problem {
            let member = reader.member(ServiceKey.timeZone)
            reader.report.warn(
                "\(member == nil ? "no 'time_zone'" : "'time_zone'") \(reader.place): "
                    + "\(problem.text); \(problem.advice)",
                at: member?.node.origin ?? reader.origin)
        }
        var policy = Policy()
        policy.read(from: reader)

        if let name, ServiceName.isReserved(name.text) {
            reader.report.error(
                "bad name \(member.key.shown) of a service: the daemon has a file of this name",
                at: member.keyOrigin)
        }
        guard let name, !switches.isEmpty else { return nil }
        self.init(name: name, zone: zone.zone, switches: switches, policy: policy)
        zoneProblem = zone.problem
        readValues(from: reader)
        isEnforced = reader.value(ServiceKey.enforce, .bool, default: isEnforced)
        notifyBefore = reader.value(ServiceKey.notifyBefore, .leads, default: Self.usualLeads)
        runbook = reader.optional(ServiceKey.runbook, .pageURL)
    }

    /// 30 days, 7 days, a day and an hour.
    private static let usualLeads: [Duration] = [30 * 24, 7 * 24, 24, 1].map { .seconds($0 * 3600) }

    /// The zone of the system, read only if the service needs it.
    private static func zone(whereUnnamedIn reader: TableDecoder, _ zones: Zones) -> Zones.Entry {
        reader.member(ServiceKey.timeZone) == nil ? zones.system : Zones.Entry(zone: .utc)
    }

    /// The switches in either of the two forms; a switch with an error is left out.
    private static func switches(
        from reader: TableDecoder, of service: String, _ sources: inout ConfiguredSources
    ) -> [Switch] {
        let short = SwitchKey.allCases.compactMap(reader.member)
        guard let list = reader.member(ServiceKey.switches) else {
            guard !short.isEmpty else {
                reader.report.error(
                    "no switch \(reader.place): add the keys 'source' and 'format'",
                    at: reader.origin)
                return []
            }
            return [Switch(from: reader, of: service, &sources)].compactMap(\.self)
        }
        if let key = short.first?.key {
            reader.report.error(
                "both '\(key)' and 'switch' \(reader.place): keep one of the two forms",
                at: list.node.origin)
        }
        return entries(of: list, in: reader).compactMap { Switch(from: $0, of: service, &sources) }
    }

    /// A reader for each `[[service.NAME.switch]]`.
    private static func entries(of list: Table.Member, in reader: TableDecoder) -> [TableDecoder] {
        let header = "[[\(reader.path).switch]]"
        let type = "an array of tables \(header)"
        guard case .array(let elements) = list.node.value else {
            reader.refuse(list, .wrongType(), expecting: type)
            return []
        }
        if elements.isEmpty {
            reader.report.error(
                "no switch \(reader.place): add a table \(header)", at: list.node.origin)
        }
        return elements.enumerated().compactMap { index, element in
            guard case .table(let table) = element.value else {
                var wrong = list
                wrong.node = element
                reader.refuse(wrong, .wrongType(), expecting: type)
                return nil
            }
            let entry = TableDecoder(
                path: "\(reader.path).switch[\(index)]", place: "in \(header)", table: table,
                origin: element.origin, report: reader.report)
            entry.refuseKeys(notIn: SwitchKey.words)
            return entry
        }
    }
}

extension Policy {
    /// Up to ten years, longer than a host lives.
    private static let staleAges: ClosedRange<Duration> = .seconds(1) ... .seconds(3650 * 86_400)
    /// The daemon extends the start limit of its unit by this time.
    private static let firstTimeouts: ClosedRange<Duration> = .zero ... .seconds(3_600)
    private static let confirmations = 1...100
    /// A document has at most 16 signatures.
    private static let signatures = 1...16
    private static let closedTimes: ClosedRange<Duration> = .zero ... .seconds(86_400)
    private static let drains: ClosedRange<Duration> = .zero ... .seconds(3_600)

    /// Each setting of it as TOML, in the order of the manual.
    var settings: [EffectiveSetting] {
        let (report, origin) = (Diagnostics(), Origin(file: ""))
        var policy = self
        policy.read(
            from: TableDecoder(path: "", place: "", table: Table(), origin: origin, report: report))
        return report.effective
    }

    /// Reads the keys of the policy. A key that is missing leaves its setting as it is.
    mutating func read(from reader: TableDecoder) {
        func read<Value>(_ setting: inout Value, _ key: ServiceKey, _ type: ValueType<Value>) {
            setting = reader.value(key, type, default: setting)
        }
        let age = ValueType<Duration>.duration(in: Self.staleAges, or: ", or 'never'")
        read(&maxStale, .maxStale, age.or("never", expected: "a duration or \"never\""))
        read(&whenStale, .whenStale, .word)
        read(&whenUnknown, .whenUnknown, .word)
        read(&firstTimeout, .firstTimeout, .duration(in: Self.firstTimeouts))
        read(&atEnd, .atEnd, .word)
        read(&updateRequired, .updateRequired, .word)
        read(&minClosed, .minClosed, .duration(in: Self.closedTimes))
        read(&openSpread, .openSpread, .duration(in: Self.closedTimes))
        read(&spreadsAtBoot, .spreadAtBoot, .bool)
        read(&drain, .drain, .duration(in: Self.drains))
        read(&confirmClose, .confirmClose, .count(in: Self.confirmations))
        read(&confirmOpen, .confirmOpen, .count(in: Self.confirmations))
        read(&signaturesToClose, .signaturesToClose, .count(in: Self.signatures))
        read(&signaturesToOpen, .signaturesToOpen, .count(in: Self.signatures))
    }
}

extension Service {
    /// Warns of settings that have no effect beside others.
    func warnOfWhatHasNoEffect(in reader: TableDecoder, _ sources: ConfiguredSources) {
        for member in [ServiceKey.signaturesToClose, .signaturesToOpen].compactMap(reader.member)
        where !sources.areSigned(switches) {
            reader.report.warn(
                "'\(member.key)' \(reader.place) has no effect: no source of the service has 'signers'",
                at: member.keyOrigin)
        }
        guard let maxStale = policy.maxStale else {
            // Flags in the format switch may hold their own expiry.
            let canExpire = switches.contains {
                if case .switchObject = $0.format { true } else { false }
            }
            if !canExpire, let member = reader.member(ServiceKey.whenStale),
                !sources.areSigned(switches)
            {
                reader.report.warn(
                    "'\(member.key)' \(reader.place) has no effect: 'max_stale' is \"never\"",
                    at: member.keyOrigin)
            }
            return
        }
        let origin = reader.member(ServiceKey.maxStale)?.node.origin ?? reader.origin
        let names = Set(switches.map(\.source))
        for source in sources.sources(named: names) where maxStale <= source.interval {
            reader.report.warn(
                "'max_stale' \(reader.place) is not longer than the interval of source "
                    + "'\(source.name)' (\(source.interval.text)): its flags go stale between polls",
                at: origin)
        }
    }
}

extension ValueType where Value == Duration {
    /// How old the last good drill of a service may be.
    static var drillIntervals: Self { .duration(in: .seconds(3600) ... .seconds(3650 * 86_400)) }
}

extension ValueType where Value == [Duration] {
    /// How long before an end or a window people are told: durations, each of them once; none is allowed.
    static var leads: Self {
        let lead = ValueType<Duration>.duration(in: .seconds(1) ... .seconds(3650 * 86_400))
        let most = 32
        return .list(
            expected: "a list of durations such as [\"7d\", \"1h\"]", \.text, isHinted: true,
            problem: { $0 > most ? "it has \($0) durations, \(most) are allowed" : nil }
        ) { element throws(ValueProblem) in
            do throws(ValueProblem) { return try lead.read(element) } catch {
                throw error.inList(of: element)
            }
        }
    }
}
