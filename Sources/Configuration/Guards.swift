import Decision
import SourceSettings

/// The keys of a `[guard.NAME]`, besides those of a source of type `http`.
enum GuardKey: String, SettingKey {
    case prometheus
    case query
    case timeout
}

/// The guards of a configuration.
struct ConfiguredGuards {
    /// A guard with an error is left out.
    private(set) var settings: [GuardName: GuardSettings] = [:]
    /// The guards of the services that name one.
    private(set) var names: [ServiceName: GuardName] = [:]
    /// The tables as written, in their order, also those with an error.
    private let tables: [(key: String, origin: Origin)]
    private let report: Diagnostics

    /// Reads the tables of `[guard]`, which may be missing.
    init(from root: TableDecoder) {
        report = root.report
        let readers = root.table(RootKey.guard)?.tables() ?? []
        tables = readers.map { ($0.member.key, $0.reader.origin) }
        for (member, reader) in readers {
            let name: GuardName? = reader.name(member, of: "a guard")
            let guardian = GuardSettings(from: reader)
            if let name, let guardian { settings[name] = guardian }
        }
    }

    /// Reads which guard a service asks.
    mutating func read(from reader: TableDecoder, of service: Service) {
        let known = tables.map(\.key)
        let type = ValueType<GuardName>(expected: "the name of a guard", text: \.text) {
            text throws(ValueProblem) in
            guard known.contains(where: text.hasSameBytes), let name = GuardName(text) else {
                let near = nearest(to: text, among: known.sorted())
                throw .unknown(
                    "guard",
                    hint: near.map { "did you mean \($0.quoted)?" }
                        ?? "add a table [guard.\(GuardName(text)?.text ?? "NAME")]")
            }
            return name
        }
        guard let name = reader.optional(ServiceKey.guard, type) else { return }
        names[service.name] = name
        warn(of: service, in: reader, asking: name)
    }

    private func warn(of service: Service, in reader: TableDecoder, asking name: GuardName) {
        guard let member = reader.member(ServiceKey.guard) else { return }
        let hasSteps = service.switches.contains {
            if case .switchObject = $0.format { true } else { false }
        }
        let spread = service.policy.openSpread
        if !hasSteps, spread == .zero {
            report.warn(
                "'\(member.key)' \(reader.place) has no effect: no switch has the format 'switch', and "
                    + "'open_spread' is not set", at: member.keyOrigin)
        }
        if spread > .zero, spread < Self.shortest {
            let origin = reader.member(ServiceKey.openSpread)?.node.origin ?? member.keyOrigin
            report.warn(
                "'open_spread' \(reader.place) is \(spread.text): guard '\(name)' sees what a host does after the "
                    + "next scrape; give it several of them", at: origin)
        }
    }

    /// Within a shorter time than this all hosts of a spread are open before Prometheus has seen the first.
    private static let shortest: Duration = .seconds(60)

    /// Warns of each guard that no service names.
    func warnOfUnused() {
        for table in tables where !names.values.contains(where: { $0.text == table.key }) {
            report.warn("guard '\(table.key)' is used by no service", at: table.origin)
        }
    }
}

extension GuardSettings {
    private static let timeouts: ClosedRange<Duration> = .milliseconds(100) ... .seconds(30)

    /// Reads a table `[guard.NAME]`; nil after an error.
    fileprivate init?(from reader: TableDecoder) {
        reader.refuseKeys(notIn: GuardKey.words + HTTPKey.words)
        let limits = FetchLimits(
            timeout: reader.value(
                GuardKey.timeout, .duration(in: Self.timeouts), default: Self.defaultTimeout))
        let asksQuery = reader.member(GuardKey.prometheus) ?? reader.member(GuardKey.query)
        if let asksQuery, let url = reader.member(HTTPKey.url) {
            reader.report.error(
                "both '\(asksQuery.key)' and '\(url.key)' \(reader.place): a guard asks one of the two",
                at: url.keyOrigin)
            return nil
        }
        guard asksQuery != nil else {
            guard reader.member(HTTPKey.url) != nil else {
                reader.report.error(
                    "nothing to ask \(reader.place): add 'prometheus' and 'query', or 'url'",
                    at: reader.origin)
                return nil
            }
            guard case .http(let server) = SourceType.http.read(reader, limits) else { return nil }
            self.init(.status, server: server)
            return
        }
        reader.require(GuardKey.query, beside: GuardKey.prometheus)
        reader.require(GuardKey.prometheus, beside: GuardKey.query)
        let url = reader.optional(GuardKey.prometheus, .prometheusURL)
        let query = reader.optional(GuardKey.query, .query)
        guard let url, let query else { return nil }
        var server = HTTPSettings(url: url, limits: limits)
        reader.readCertificates(into: &server)
        server.credentials[.bearer] = reader.optional(HTTPKey.bearer, .secret)
        server.headers = reader.optional(HTTPKey.headers, .headers) ?? []
        server.unixSocket = reader.optional(HTTPKey.unixSocket, .socketPath)
        reader.checkCredentials(for: [url], "'\(GuardKey.prometheus.rawValue)' is")
        self.init(.query(query), server: server)
    }
}

extension ValueType where Value == String {
    /// The URL of a server with the API of Prometheus, to which a path is added.
    static var prometheusURL: Self {
        .url(expected: "a URL such as \"https://prometheus.example.com\"", login: "'bearer'") {
            url throws(ValueProblem) in
            guard !url.hasQuery else {
                throw .bad("URL", cause: "a path is added to it; leave out what follows '?'")
            }
            let text = url.withoutTrailingSlashes
            guard !text.hasSuffix("/api/v1"), !text.hasSuffix("/query") else {
                throw .bad("URL", cause: "leave out '/api/v1/query'; it is added")
            }
            return text
        }
    }

    /// A query in PromQL. Prometheus checks the rest.
    fileprivate static var query: Self {
        .string(expected: "a query such as \"sum(rate(errors_total[5m])) < 1\"") {
            text throws(ValueProblem) in
            guard text.utf8.contains(where: { $0 > 0x20 }) else {
                throw .bad("query", cause: "it is empty")
            }
            guard !text.comparesWithBool else {
                throw .bad(
                    "query",
                    cause:
                        "leave out 'bool': a guard passes if its query gives a sample, and with 'bool' it "
                        + "gives one also when it is false")
            }
            return text
        }
    }
}

extension String {
    /// Whether a comparison of this query in PromQL has the modifier `bool`: a word after an operator, outside of texts
    /// and comments.
    fileprivate var comparesWithBool: Bool {
        var rest = Substring(self).utf8
        var followsComparison = false
        while let byte = rest.popFirst() {
            switch byte {
            case 0x09, 0x0A, 0x0D, 0x20: break
            case UInt8(ascii: "#"): rest = rest.drop { $0 != 0x0A }
            case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"):
                rest.skipText(endingWith: byte)
                followsComparison = false
            case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "="), UInt8(ascii: "!"):
                let isDouble = rest.first == UInt8(ascii: "=")
                if isDouble { rest.removeFirst() }
                followsComparison =
                    isDouble || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">")
            case _ where byte.isPartOfWord:
                let word = rest.prefix(while: \.isPartOfWord)
                rest = rest.dropFirst(word.count)
                let isBool = String(decoding: [byte] + word, as: UTF8.self).lowercased() == "bool"
                if followsComparison, isBool { return true }
                followsComparison = false
            default: followsComparison = false
            }
        }
        return false
    }
}

extension Substring.UTF8View {
    /// Drops what is left of a text in quotes. A text in backticks has no escapes.
    fileprivate mutating func skipText(endingWith quote: UInt8) {
        while let byte = popFirst(), byte != quote {
            if byte == UInt8(ascii: "\\"), quote != UInt8(ascii: "`") { _ = popFirst() }
        }
    }
}

extension UInt8 {
    fileprivate var isPartOfWord: Bool {
        isAlphanumeric || self == UInt8(ascii: "_") || self == UInt8(ascii: ":")
    }
}
