package import Decision
package import JSON
package import SourceSettings

/// The keys of a `[source.NAME]` whose type is a document that people can sign.
enum SigningKey: String, SettingKey {
    case signers
    case audience
}

/// The keys of every `[source.NAME]`, whatever its type.
enum SourceKey: String, SettingKey {
    case type
    case interval
    case maxBackoff = "max_backoff"
    case timeout
    case maxBody = "max_body"
    case defaults
}

/// A source of flags as the configuration describes it.
package struct Source: Hashable, Sendable {
    package var name: SourceName
    package var kind: Kind
    /// From one poll to the next, before jitter and back-off.
    package var interval: Duration
    package var maxBackoff: Duration
    /// The values of keys that the source does not hold.
    package var defaults: JSON.Object = [:]
    /// Who has to sign its documents; nil for nobody.
    package var signing: SigningRule?
    /// The table that defines it, or the address that implies it.
    package var origin: Origin

    /// The cluster of a source of type `etcd`; nil of another.
    var cluster: EtcdSettings? { if case .etcd(let cluster) = kind { cluster } else { nil } }

    /// The addresses of its mirrors as others may see them; empty without mirrors.
    var mirrors: [String] {
        if case .http(let settings) = kind { settings.mirrors.map(\.withoutSecrets) } else { [] }
    }

    /// The kind of a source, with the settings of that kind.
    package enum Kind: Hashable, Sendable {
        /// The path is absolute if the path of the configuration file is.
        case file(path: String, FetchLimits = FetchLimits())
        case http(HTTPSettings)
        case etcd(EtcdSettings)
        case ofrep(OFREPSettings)
        case firebase(FirebaseSettings)
        case firebaseServer(FirebaseServerSettings)

        /// Whether its answers may say what time it is.
        var tellsTime: Bool {
            switch self {
            case .file, .etcd: false
            case .http, .ofrep, .firebase, .firebaseServer: true
            }
        }

        /// Where the flags come from, without secrets: a path, or the addresses in their order.
        package var places: [String] {
            switch self {
            case .file(let path, _): [path]
            case .http(let settings): settings.addresses.map(\.url.withoutSecrets)
            case .etcd(let cluster): cluster.endpoints.map(\.withoutSecrets)
            case .ofrep(let settings): [settings.server.url.withoutSecrets]
            case .firebase(let template): [template.baseURL.withoutSecrets]
            case .firebaseServer(let template): [template.baseURL.withoutSecrets]
            }
        }

        package var limits: FetchLimits {
            switch self {
            case .file(_, let limits): limits
            case .http(let settings): settings.limits
            case .etcd(let cluster): cluster.server.limits
            case .ofrep(let settings): settings.server.limits
            case .firebase(let template): template.limits
            case .firebaseServer(let template): template.limits
            }
        }
    }
}

extension Source {
    private static let intervals: ClosedRange<Duration> = .milliseconds(100) ... .seconds(86_400)
    private static let backoffs: ClosedRange<Duration> = .milliseconds(100)...Schedule.backOffLimit
    static let timeouts: ClosedRange<Duration> = .milliseconds(100) ... .seconds(600)
    private static let bodies = 1...FetchLimits.largestMaxBody

    /// Reads a table `[source.NAME]`; nil after an error, or without a name.
    init?(name: SourceName?, from table: TableDecoder) {
        var reader = table
        reader.need = "; \(SourceType.follows)"
        let type = reader.required(SourceKey.type, .sourceType)
        // The keys of every type are listed after those of the type.
        var common = table
        common.report = Diagnostics()
        let interval = common.value(
            SourceKey.interval, .duration(in: Self.intervals),
            default: type?.interval ?? .seconds(60))
        let maxBackoff = common.value(
            SourceKey.maxBackoff, .duration(in: Self.backoffs),
            default: Schedule.usualBackOff(of: interval))
        let timeout = common.value(
            SourceKey.timeout, .duration(in: Self.timeouts), default: FetchLimits.defaultTimeout)
        let maxBody = common.value(
            SourceKey.maxBody, .byteSize(in: Self.bodies),
            default: type?.maxBody ?? FetchLimits.defaultMaxBody)
        var defaults = JSON.Object()
        if let table = common.table(SourceKey.defaults) {
            for member in table.table.members {
                defaults[member.key] = table.optional(member, .json)
            }
        }

        reader.need = type.map { ", which type '\($0.word)' needs" } ?? ""
        var kind = type?.read(reader, FetchLimits(timeout: timeout, maxBody: maxBody))
        if case .http(var settings) = kind, !settings.mirrors.isEmpty {
            // A mirror that hangs keeps no order of the others waiting.
            settings.limits.timeout = min(timeout, max(interval, .seconds(1)))
            kind = .http(settings)
        }
        if let warning = kind?.paceWarning(at: interval) {
            table.report.warn(
                "'interval' \(table.place) is below 60 s: \(warning)", at: table.origin)
        }
        let signing = type?.isSignable == true ? SigningRule(from: reader) : nil
        if type != nil || reader.member(SourceKey.type) == nil {
            reader.refuseKeys(
                notIn: SourceKey.words + (type?.keys ?? SourceType.keys),
                hints: [
                    "acknowledge": "write 'etcd = \"SOURCE\"' into [report] in its place"
                ])
        }
        table.report.append(common.report)

        guard let name, let kind else { return nil }
        self.init(
            name: name, kind: kind, interval: interval, maxBackoff: maxBackoff, defaults: defaults,
            signing: signing, origin: table.origin)
    }
}

/// A type of source as the configuration writes it: the word after `type`, its own keys, and the addresses that
/// replace a table. A new one is added to `all`.
struct SourceType: Sendable {
    let word: String
    /// The keys of this type, besides the keys of every type.
    let keys: [String]
    var isSignable = false
    /// The time between two polls, if the configuration names none.
    var interval: Duration = .seconds(60)
    /// The longest body of an answer, in bytes, if the configuration names none.
    var maxBody = FetchLimits.defaultMaxBody
    /// Reads the keys of this type; nil after an error.
    let read: @Sendable (TableDecoder, FetchLimits) -> Source.Kind?
    /// The schemes of addresses that imply a source of this type, without the colon.
    var schemes: [String] = []
    /// The members of the table that an address replaces.
    var members: @Sendable (String) throws(ValueProblem) -> [(key: String, Node.Value)] = {
        _ in []
    }

    static let all = [file, http, etcd, ofrep, firebase, firebaseServer]

    /// The keys of all types, each once.
    static var keys: [String] { all.flatMap(\.keys).eachOnce }

    /// The hint after an unknown type.
    static var follows: String { "this version follows only \(all.map(\.word).alternatives)" }
}

extension ValueType where Value == SourceType {
    fileprivate static var sourceType: Self {
        let expected = SourceType.all.map(\.word).alternatives
        return Self(expected: expected, text: \.word) { word throws(ValueProblem) in
            guard let type = SourceType.all.first(where: { $0.word.hasSameBytes(as: word) }) else {
                throw .unknown("type", hint: SourceType.follows)
            }
            return type
        }
    }
}

extension SigningRule {
    /// Reads the keys; nil without them, or after an error. Each needs the other: signatures without an
    /// audience would let the document of another fleet count.
    fileprivate init?(from reader: TableDecoder) {
        let path = reader.member(SigningKey.signers)?.node.origin.file ?? ""
        let signers = reader.optional(SigningKey.signers, .path(namedIn: path))
        let audience = reader.optional(SigningKey.audience, .text("audience"))
        if let signers, let audience {
            self.init(signers: signers, audience: audience)
            return
        }
        reader.require(SigningKey.audience, beside: SigningKey.signers)
        reader.require(SigningKey.signers, beside: SigningKey.audience)
        return nil
    }
}

extension Source.Kind {
    /// Why a source of this kind is better polled less often than at this interval, and what to do; nil if it is not.
    fileprivate var paceAdvice: String? {
        switch self {
        case .firebase(let settings):
            settings.realtimeURL == nil
                ? "Firebase has a quota of fetches that it does not publish (its own clients fetch every 12 hours by "
                    + "default), and throttles a client above it; write 'realtime = true', which tells of "
                    + "changes at once, or a longer interval" : nil
        case .firebaseServer:
            "Firebase has a quota of requests of a project that it does not publish, and throttles all hosts of the "
                + "project above it; write a longer interval"
        case .file, .http, .etcd, .ofrep: nil
        }
    }

    /// The same, unless the interval is long enough.
    func paceWarning(at interval: Duration) -> String? {
        interval < .seconds(60) ? paceAdvice : nil
    }
}
