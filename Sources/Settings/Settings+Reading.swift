import Decision

extension Settings {
    /// Reads files that are given in the order in which they are merged: the main file, then the
    /// drop-ins. Every error of a stage is collected: of the syntax of all files, else of the whole.
    package static func load(
        files: [(path: String, bytes: [UInt8])], zones: some Zones
    ) throws(SettingsError) -> Settings {
        var fragments: [Fragment] = []
        var problems: [Diagnostic] = []
        for (path, bytes) in files {
            do {
                fragments.append(try Fragment(file: path, bytes: bytes))
            } catch {
                problems.append(error)
            }
        }
        if let error = SettingsError(problems) { throw error }
        return try Settings(validating: Merged(fragments), zones: zones)
    }

    /// Checks everything, and throws all that is wrong.
    package init(validating merged: Merged, zones: some Zones) throws(SettingsError) {
        var report = Report()
        let start = Origin(file: merged.files.first ?? "(no file)", line: 1, column: 1)
        let root = TableReader(
            path: "", place: "at the top level", table: merged.root, origin: start)
        root.refuseKeys(notIn: RootKey.words, &report)

        var sources = SourceList()
        if let table = root.table(RootKey.source, &report) {
            sources = SourceList(from: table, &report)
        }
        var services: [Service] = []
        if let table = root.table(RootKey.service, &report) {
            for (member, reader) in table.tables(&report) {
                let service = Service(
                    named: member, from: reader, zones: zones, &sources, &report)
                guard let service else { continue }
                services.append(service)
                service.warnOfWhatHasNoEffect(in: reader, sources.sources, &report)
            }
        }
        var closeAtOnce: Int?
        if let table = root.table(RootKey.limits, &report) {
            table.refuseKeys(notIn: LimitsKey.words, &report)
            closeAtOnce = table.optional(
                LimitsKey.closeAtOnce, .count(in: 1...100_000), &report)
        }
        sources.warnOfUnused(&report)
        if services.isEmpty, report.errors.isEmpty {
            report.error("no service is configured: add a table [service.NAME]", at: start)
        }

        if let error = SettingsError(report.errors.inOrder(of: merged.files)) { throw error }
        self.init(
            sources: sources.sources, services: services, closeAtOnce: closeAtOnce,
            warnings: report.warnings.inOrder(of: merged.files),
            effective: report.effective(under: .limits) + report.effective(under: .source)
                + report.effective(under: .service))
    }
}
