import Decision

/// The sources of a configuration: those with a table, and those that the addresses of switches
/// imply.
struct SourceList {
    /// In the order of the tables, then of the addresses. Those with an error are left out.
    private(set) var sources: [Source] = []
    /// The keys of the tables as they are written, those with an error included.
    private var tables: Set<String> = []
    /// The names that no other source can have.
    private var taken: Set<String> = []
    private var implied: [Source.Kind: SourceName] = [:]
    private var used: Set<SourceName> = []

    init() {}

    /// Reads the tables of `[source]`.
    init(from reader: TableReader, _ report: inout Report) {
        for (member, reader) in reader.tables(&report) {
            tables.insert(member.key)
            taken.insert(member.key)
            let name = SourceName(member.key)
            if name == nil {
                report.error(
                    "bad name \(member.key.quoted) of a source: expected \(SourceName.rule)",
                    at: member.keyOrigin)
            }
            if let source = Source(name: name, from: reader, &report) {
                sources.append(source)
            }
        }
    }

    /// The source that a switch names, or that its address implies; the same address implies the
    /// same source. Nil where an error about the source is reported already.
    mutating func name(
        of text: String, at origin: Origin, for service: String, _ report: inout Report
    ) throws(ValueProblem) -> SourceName? {
        let name =
            if let address = Address(text) {
                try impliedSource(by: address, text, at: origin, for: service, &report)
            } else {
                try sourceWithTable(text)
            }
        if let name { used.insert(name) }
        return name
    }

    /// Warns of each table that no switch names.
    func warnOfUnused(_ report: inout Report) {
        for source in sources where !used.contains(source.name) {
            report.warn("source '\(source.name)' is used by no service", at: source.origin)
        }
    }

    private func sourceWithTable(_ text: String) throws(ValueProblem) -> SourceName? {
        guard !tables.contains(text) else { return SourceName(text) }
        guard let name = SourceName(text) else {
            let isPath = text.utf8.contains(UInt8(ascii: "/"))
            let hint = isPath ? "; did you mean \("file:\(text)".quoted)?" : ""
            throw .bad("name", cause: "expected \(SourceName.rule), or an address\(hint)")
        }
        if let near = nearest(to: text, among: tables.sorted()) {
            throw .unknown("source", hint: "did you mean \(near.quoted)?")
        }
        throw .unknown("source", hint: "add a table [source.\(name)]")
    }

    private mutating func impliedSource(
        by address: Address, _ text: String, at origin: Origin, for service: String,
        _ report: inout Report
    ) throws(ValueProblem) -> SourceName? {
        guard let type = SourceType.all.first(where: { $0.schemes.contains(address.scheme) }) else {
            let known = SourceType.all.flatMap(\.schemes).map { "\($0):" }.alternatives
            throw .unknown("address", hint: "this version follows only \(known)")
        }
        let settings = [(SourceKey.type.rawValue, .string(type.word))] + (try type.members(address))
        let members = settings.map { key, value in
            Table.Member(key: key, keyOrigin: origin, node: Node(value, at: origin))
        }
        let name = freeName(like: service)
        let reader = TableReader(
            path: "source.\(name?.text ?? service)", place: "in address \(text.quoted)",
            table: Table(members), origin: origin)

        // Whether the address implies a new source is known when it is read.
        var reading = Report()
        let source = Source(name: name, from: reader, &reading)
        if let source, let same = implied[source.kind] { return same }
        report.append(reading)
        guard let source else { return nil }
        implied[source.kind] = source.name
        taken.insert(source.name.text)
        sources.append(source)
        return source.name
    }

    /// `text`, or `text-2`, `text-3` …: the first that no source has. Shortened where a name would
    /// be too long; nil where `text` is no name.
    private func freeName(like text: String) -> SourceName? {
        for number in 1...(taken.count + 1) {
            let suffix = number == 1 ? "" : "-\(number)"
            let stem = text.utf8.prefix(63 - suffix.utf8.count)
            guard let name = SourceName("\(Substring(stem))\(suffix)") else { return nil }
            if !taken.contains(name.text) { return name }
        }
        return nil
    }
}
