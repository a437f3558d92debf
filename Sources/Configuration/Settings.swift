package import Decision
package import Gates
package import Pages
package import SourceSettings

/// A configuration that can be run: every name is known, every value is in its range.
package struct Settings: Hashable, Sendable {
    /// The sources with a table, in that order, then the sources that addresses imply.
    package var sources: [Source]
    /// In the order of their tables; at least one.
    package var services: [Service]
    /// The units to attach to each service that lists some: those of its `units`, then those of `[attached]`.
    /// The daemon decides nothing by them.
    package var units: [ServiceName: [ConfiguredUnit]]
    /// Where `units` lists a unit, as opposed to `[attached]`.
    package var unitOrigins: [ListedUnit: Origin]
    /// How old the last good drill of each service may be that asks for drills. The daemon decides nothing by them.
    package var drillIntervals: [ServiceName: Duration]
    /// The pages of the services that configure a template or a language.
    package var pages: [ServiceName: Page]
    package var guardLimits: GuardLimits
    /// What each guard asks.
    package var guards: [GuardName: GuardSettings]
    /// The guards of the services that ask one before their steps.
    package var guardNames: [ServiceName: GuardName]
    /// The part of every rollout and spread in which this host is.
    package var slots: SlotRange
    /// The file to which the metrics are written too; nil without one.
    package var textfile: String?
    /// Whom the host tells its state; nil for nobody.
    package var report: ReportSettings?
    /// In the order of files and places.
    package var warnings: [Diagnostic]
    /// Every setting in force, defaults included: limits, sources, services.
    package var effective: [EffectiveSetting]

    /// The units that gates hold: none of a service that is only observed.
    package var heldUnits: [ServiceName: [ConfiguredUnit]] {
        let enforced = Set(services.filter(\.isEnforced).map(\.name))
        return units.filter { enforced.contains($0.key) }
    }

    /// The part of the settings that decisions depend on.
    package var plan: Plan {
        var plan = Plan(
            sources: sources.map {
                var plan = SourcePlan(
                    name: $0.name, interval: $0.interval, timeout: $0.kind.limits.timeout,
                    maxBackoff: $0.maxBackoff, defaults: $0.defaults,
                    audience: $0.signing?.audience,
                    mirrors: $0.mirrors, tellsTime: $0.kind.tellsTime)
                plan.paceWarning = $0.kind.paceWarning(at: $0.interval).map {
                    "its interval is below 60 s: \($0)"
                }
                return plan
            }, services: services, guardLimits: guardLimits, slots: slots)
        plan.guards = guardNames
        return plan
    }
}

extension Settings {
    /// Reads the main file and the drop-ins, in the order in which they are merged. Throws all syntax
    /// errors of all files or, if there are none, all errors of the merged configuration.
    package init(
        files: [ConfigurationFiles.Content], zones: Zones, templates: Templates = Templates()
    ) throws(ConfigurationError) {
        let report = Diagnostics()
        let root = try TableDecoder(merging: files, report)
        let files = files.map(\.path)
        let start = Origin(file: files.first ?? "(no file)")
        root.refuseKeys(notIn: RootKey.words)

        var sources = ConfiguredSources(from: root)
        var guards = ConfiguredGuards(from: root)
        var services: [Service] = []
        var units: [ServiceName: [ConfiguredUnit]] = [:]
        var unitOrigins: [ListedUnit: Origin] = [:]
        var drillIntervals: [ServiceName: Duration] = [:]
        var pages: [ServiceName: Page] = [:]
        for (member, reader) in root.table(RootKey.service)?.tables() ?? [] {
            guard let service = Service(named: member, from: reader, zones: zones, &sources)
            else { continue }
            services.append(service)
            for (key, type) in [
                (ServiceKey.units, ValueType.units()),
                (.onChange, .onChange(of: service.name)),
            ] {
                let listed = reader.value(key, type, default: [])
                for (unit, node) in zip(listed, reader.member(key)?.node.elements ?? []) {
                    if units[service.name]?.contains(where: { $0.name == unit.name }) == true {
                        report.error(
                            "unit '\(unit.name)' is in 'units' and in 'on_change' \(reader.place)",
                            at: node.origin)
                    }
                    unitOrigins[ListedUnit(service: service.name, name: unit.name)] = node.origin
                }
                if !listed.isEmpty { units[service.name, default: []] += listed }
            }
            let drillInterval = reader.optional(ServiceKey.drillEvery, .drillIntervals)
            // Nothing can be rehearsed where nothing is moved.
            if service.isEnforced { drillIntervals[service.name] = drillInterval }
            pages[service.name] = Page(of: service, from: reader, templates)
            service.warnOfWhatHasNoEffect(in: reader, sources)
            guards.read(from: reader, of: service)
        }
        units.add(root.table(RootKey.attached), of: Set(services.map(\.name)), report)
        for index in services.indices {
            services[index].announcesChanges =
                units[services[index].name]?.contains { $0.kind == .change } ?? false
        }
        let limits = root.table(RootKey.limits)
        limits?.refuseKeys(notIn: LimitsKey.words)
        let guardLimits = GuardLimits(from: limits)
        let host = root.table(RootKey.host)
        host?.refuseKeys(notIn: HostKey.words)
        let slots = host?.value(HostKey.slots, .slots, default: .all) ?? .all
        let metrics = root.table(RootKey.metrics)
        metrics?.refuseKeys(notIn: MetricsKey.words)
        let textfile = metrics?.optional(MetricsKey.textfile, .textfile)
        let reports = root.table(RootKey.report).flatMap { ReportSettings(from: $0, &sources) }
        _ = FleetSettings(from: root)
        sources.warnOfUnused()
        guards.warnOfUnused()
        if services.isEmpty, report.errors.isEmpty {
            report.error("no service is configured: add a table [service.NAME]", at: start)
        }

        if let error = ConfigurationError(report.errors.inOrder(of: files)) { throw error }
        self.init(
            sources: sources.sources, services: services, units: units,
            unitOrigins: unitOrigins,
            drillIntervals: drillIntervals, pages: pages,
            guardLimits: guardLimits, guards: guards.settings, guardNames: guards.names,
            slots: slots, textfile: textfile, report: reports,
            warnings: report.warnings.inOrder(of: files),
            effective: [
                .host, .limits, .metrics, .report, .fleet, .source, .guard, .service, .attached,
            ]
            .flatMap(
                report.effective))
    }
}

extension TableDecoder {
    /// The root of the merged files, in the order in which they are merged. Throws all syntax errors.
    init(
        merging files: [ConfigurationFiles.Content], _ report: Diagnostics
    ) throws(ConfigurationError) {
        var merged = Table()
        for (path, bytes) in files {
            do {
                merged.merge(
                    try Table(toml: bytes, file: path), addingUp: [RootKey.attached.rawValue])
            } catch {
                report.error(error.text, at: error.origin)
            }
        }
        if let error = ConfigurationError(report.errors) { throw error }
        self.init(
            path: "", place: "at the top level", table: merged,
            origin: Origin(file: files.first?.path ?? "(no file)"), report: report)
    }
}

extension [ServiceName: [ConfiguredUnit]] {
    /// Adds the units of `[attached]`. A unit that `units` lists too is there once, and as both say. Units of a service
    /// that is not configured have no gate yet.
    fileprivate mutating func add(
        _ attached: TableDecoder?, of services: Set<ServiceName>, _ report: Diagnostics
    ) {
        for (member, service, added) in attached?.attachedUnits() ?? [] {
            guard services.contains(service) else {
                report.warn(
                    "[attached] lists units of '\(service)', which no table [service.\(service)] configures: they "
                        + "are attached once it is", at: member.keyOrigin)
                continue
            }
            for unit in added {
                guard let other = self[service]?.first(where: { $0.name == unit.name }) else {
                    self[service, default: []].append(unit)
                    continue
                }
                guard other != unit else { continue }
                report.error(
                    "unit '\(unit.name)' of '\(service)' in [attached] is other than in 'units' of "
                        + "[service.\(service)]",
                    at: member.node.origin)
            }
        }
    }
}

extension ValueType where Value == String {
    /// The absolute path of a file that the node exporter reads.
    fileprivate static var textfile: Self {
        .string(expected: "the path of a file") { path throws(ValueProblem) in
            guard path.hasPrefix("/"), !path.utf8.contains(0) else {
                throw .bad("path", cause: "write the whole path, from '/'")
            }
            guard path.hasSuffix(".prom"), !path.hasSuffix("/.prom") else {
                throw .bad("path", cause: "the node exporter reads files '*.prom' alone")
            }
            return path
        }
    }
}

extension ValueType where Value == SlotRange {
    fileprivate static var slots: Self {
        Self(expected: "a part such as \"50%-100%\"", text: \.text) { text throws(ValueProblem) in
            guard let part = SlotRange(text) else {
                throw .bad(
                    "part", cause: "write two percentages from 0% to 100%, the lower one first")
            }
            return part
        }
    }
}

extension GuardLimits {
    private static let periods: ClosedRange<Duration> = .zero ... .seconds(30 * 86_400)

    /// Reads `[limits]`; the defaults without the table.
    fileprivate init(from limits: TableDecoder?) {
        self.init()
        guard let limits else { return }
        count = limits.optional(LimitsKey.closeAtOnce, .count(in: 1...100_000))
        let period = ValueType<Duration>.duration(in: Self.periods)
        within = limits.value(LimitsKey.closeWithin, period, default: within)
        notice = limits.value(LimitsKey.notice, period, default: notice)
    }
}
