import Decision

extension Service {
    /// Reads the keys that follow flags besides the switches: `variant`, `values`, `activation`, and
    /// where the installed version is known from.
    mutating func readValues(from reader: TableReader, _ report: inout Report) {
        if let table = reader.table(ServiceKey.variant, &report) {
            variant = RemoteValue(variantFrom: table, of: switches, &report)
        }
        if let table = reader.table(ServiceKey.values, &report) {
            var spellings: [String: String] = [:]
            for (member, reader) in table.tables(&report) {
                let value = RemoteValue(named: member, from: reader, of: switches, &report)
                guard let value else { continue }
                values.append(value)
                // In state.env '-' and '_' are one.
                let spelling = String(member.key.map { $0 == "-" ? "_" : $0 })
                if let other = spellings.updateValue(member.key, forKey: spelling) {
                    report.error(
                        "values '\(other)' and '\(member.key)' \(table.place) are the same variable "
                            + "of state.env",
                        at: member.keyOrigin)
                }
            }
        }
        activation = reader.value(
            ServiceKey.activation, .word, default: Activation.immediate, &report)
        installed = Self.installed(from: reader, &report)
    }

    private static func installed(
        from reader: TableReader, _ report: inout Report
    ) -> InstalledVersion? {
        let text = reader.optional(ServiceKey.installedVersion, .text("version"), &report)
        let folder = reader.member(ServiceKey.installedVersionFile)?.node.origin.file ?? ""
        let path = reader.optional(
            ServiceKey.installedVersionFile, .path(namedIn: folder), &report)
        if let member = reader.member(ServiceKey.installedVersionFile), text != nil {
            report.error(
                "both 'installed_version' and '\(member.key)' \(reader.place): keep one of the two",
                at: member.keyOrigin)
        }
        if let path { return .file(path) }
        return text.flatMap { Version($0) }.map(InstalledVersion.version)
    }
}
