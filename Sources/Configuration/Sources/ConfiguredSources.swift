import Decision
import SourceSettings

/// The sources of a configuration: those with a table, and those that addresses of switches imply.
struct ConfiguredSources {
    /// In the order of the tables, then of the addresses. A source with an error is left out.
    private(set) var sources: [Source] = []
    /// The position of each source in `sources`.
    private var positions: [SourceName: Int] = [:]
    /// The keys of the tables as written, also of tables with an error.
    private var tables: Set<String> = []
    private var implied: [Source.Kind: SourceName] = [:]
    private var used: Set<SourceName> = []
    private let report: Diagnostics

    /// Reads the tables of `[source]`, which may be missing.
    init(from root: TableDecoder) {
        report = root.report
        for (member, reader) in root.table(RootKey.source)?.tables() ?? [] {
            tables.insert(member.key)
            let source = Source(name: reader.name(member, of: "a source"), from: reader)
            if let source { add(source) }
        }
    }

    private mutating func add(_ source: Source) {
        positions[source.name] = sources.count
        sources.append(source)
    }

    /// The sources of these names, in their order.
    func sources(named names: Set<SourceName>) -> [Source] {
        names.compactMap { positions[$0] }.sorted().map { sources[$0] }
    }

    /// Whether a source of these switches has signers.
    func areSigned(_ switches: [Switch]) -> Bool {
        switches.contains { plan in
            positions[plan.source].map { sources[$0].signing != nil } ?? false
        }
    }

    /// Why a source gives no value alone, as the end of a sentence that begins with it; nil if it does.
    func causeAgainstWhole(_ name: SourceName) -> String? {
        guard let source = positions[name].map({ sources[$0] }) else { return nil }
        if source.signing != nil { return "has signers, and its documents are objects" }
        switch source.kind {
        case .file, .http, .etcd: return nil
        case .ofrep, .firebase, .firebaseServer: return "gives flags by their keys"
        }
    }

    /// The source that a switch names, or that its address implies. The same address implies the same
    /// source. Nil if an error about the source is in the report already.
    mutating func name(
        of text: String, at origin: Origin, for service: String
    ) throws(ValueProblem) -> SourceName? {
        let name =
            if let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) {
                try impliedSource(text[..<colon], by: text, at: origin, for: service)
            } else {
                // The name of a source, which cannot hold a colon.
                try sourceWithTable(text)
            }
        if let name { used.insert(name) }
        return name
    }

    /// Warns of each source that no switch names.
    func warnOfUnused() {
        for source in sources where !used.contains(source.name) {
            report.warn("source '\(source.name)' is used by no service", at: source.origin)
        }
    }

    /// The cluster in which the host says what it is, by the name of its source.
    ///
    /// Its keys must not be among the flags of a source: each fetch would bring the keys of all hosts, until they are
    /// too large to be read.
    func cluster(forReports text: String) throws(ValueProblem) -> SourceName {
        guard let source = sources.first(where: { $0.name.text == text }) else {
            let near = nearest(to: text, among: tables.sorted()).map {
                "did you mean \($0.quoted)?"
            }
            throw .unknown("source", hint: near ?? "name a source of type 'etcd' that has a table")
        }
        guard let cluster = source.cluster else {
            throw .bad("source", cause: "'\(text)' is not of type 'etcd'")
        }
        for reader in sources {
            guard let flags = reader.cluster,
                [cluster.hostsPrefix, cluster.signsPrefix].contains(where: {
                    $0.utf8.starts(with: flags.prefix.utf8)
                }), reader.signing == nil, !Set(cluster.endpoints).isDisjoint(with: flags.endpoints)
            else { continue }
            throw .bad(
                "source",
                cause:
                    "what hosts say at '\(cluster.hostsPrefix)' would be among the flags of source "
                    + "'\(reader.name)' at '\(flags.prefix)'; give it a longer prefix that ends with '/', such as "
                    + "'/flags/'")
        }
        return source.name
    }

    /// Something else than a switch uses a source.
    mutating func use(_ name: SourceName) { used.insert(name) }

    private func sourceWithTable(_ text: String) throws(ValueProblem) -> SourceName? {
        guard !tables.contains(text) else { return SourceName(text) }
        guard let name = SourceName(text) else {
            let isPath = text.utf8.contains(UInt8(ascii: "/"))
            let hint = isPath ? "; did you mean \("file:\(text.withoutSecrets)".quoted)?" : ""
            throw .bad("name", cause: "expected \(SourceName.rule), or an address\(hint)")
        }
        let near = nearest(to: text, among: tables.sorted()).map { "did you mean \($0.quoted)?" }
        throw .unknown("source", hint: near ?? "add a table [source.\(name)]")
    }

    private mutating func impliedSource(
        _ scheme: Substring, by text: String, at origin: Origin, for service: String
    ) throws(ValueProblem) -> SourceName? {
        guard let type = SourceType.all.first(where: { $0.schemes.contains(String(scheme)) }) else {
            let known = SourceType.all.flatMap(\.schemes).map { "\($0):" }.alternatives
            throw .unknown("address", hint: "this version follows only \(known)")
        }
        let settings = [(SourceKey.type.rawValue, .string(type.word))] + (try type.members(text))
        let members = settings.map { key, value in
            Table.Member(key: key, keyOrigin: origin, node: Node(value, at: origin))
        }
        let name = freeName(like: service)
        // Only after reading is it known whether another address has implied the same source.
        let reading = Diagnostics()
        let reader = TableDecoder(
            path: "source.\(name?.text ?? service)", place: "in address \(text.shown)",
            table: Table(members: members), origin: origin, report: reading)
        let source = Source(name: name, from: reader)
        if let source, let same = implied[source.kind] { return same }
        report.append(reading)
        guard let source else { return nil }
        implied[source.kind] = source.name
        add(source)
        return source.name
    }

    /// The first of `text`, `text-2` … that no source has, shortened if too long; nil if `text` is no name.
    private func freeName(like text: String) -> SourceName? {
        let taken = tables.union(implied.values.map(\.text))
        for number in 1...(taken.count + 1) {
            let suffix = number == 1 ? "" : "-\(number)"
            let stem = text.utf8.prefix(63 - suffix.utf8.count)
            guard let name = SourceName("\(Substring(stem))\(suffix)") else { return nil }
            if !taken.contains(name.text) { return name }
        }
        return nil
    }
}
