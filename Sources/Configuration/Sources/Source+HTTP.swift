import JSON
import SourceSettings

/// The keys of a `[source.NAME]` of type `http`, besides the keys of every type.
enum HTTPKey: String, SettingKey {
    case url
    case ca
    case clientCertificate = "client_certificate"
    case clientKey = "client_key"
    case bearer
    case headers
    case unixSocket = "unix_socket"
    case allowPlainHTTP = "allow_plain_http"

    /// The keys that the types `etcd` and `ofrep` have too.
    static let wordsOfConnections = [ca, clientCertificate, clientKey, allowPlainHTTP]
        .map(\.rawValue)
}

extension SourceType {
    static let http = SourceType(
        word: "http", keys: HTTPKey.words + SigningKey.words, isSignable: true,
        read: { reader, limits in
            let such = "a URL such as \"https://flags.example.com/shop.json\""
            let type = ValueType<String>.url(expected: such, login: "'bearer'") { $0.text }
            guard let urls = reader.required(HTTPKey.url, .addresses(type)) else { return nil }
            var settings = HTTPSettings(url: urls[0], limits: limits)
            if urls.count > 1 {
                settings.mirrors = urls
                reader.requireSigners()
            }
            reader.readCertificates(into: &settings)
            settings.credentials[.bearer] = reader.optional(HTTPKey.bearer, .secret)
            settings.headers = reader.optional(HTTPKey.headers, .headers) ?? []
            settings.unixSocket = reader.optional(HTTPKey.unixSocket, .socketPath)
            reader.checkCredentials(for: urls, "'url' is")
            return .http(settings)
        },
        schemes: ["http", "https"],
        members: { [(HTTPKey.url.rawValue, .string($0))] })
}

extension TableDecoder {
    /// Reports mirrors without signers: whoever has one of the servers would give orders.
    fileprivate func requireSigners() {
        guard let member = member(HTTPKey.url), self.member(SigningKey.signers) == nil else {
            return
        }
        report.error(
            "'url' \(place) is a list; only a source of type 'http' with 'signers' has mirrors",
            at: member.keyOrigin)
    }
}

extension ValueType where Value == [String] {
    /// One address, or a list of mirrors, each of the type `one`.
    fileprivate static func addresses(_ one: ValueType<String>) -> Self {
        let most = 16
        let list = Self.list(
            expected: one.expected, \.withoutSecrets,
            problem: { (1...most).contains($0) ? nil : "write 1 to \(most) addresses" }
        ) { element throws(ValueProblem) in
            do throws(ValueProblem) { return try one.read(element) } catch {
                throw error.inList(of: element)
            }
        }
        return Self(expected: one.expected) { value throws(ValueProblem) in
            if case .array = value { return try list.read(value) }
            return [try one.read(value)]
        } write: {
            $0.count == 1 ? one.write($0[0]) : list.write($0)
        }
    }
}

extension ValueType where Value == String {
    static var socketPath: Self {
        .string(expected: "a path") { text throws(ValueProblem) in
            guard text.utf8.first == UInt8(ascii: "/") else {
                throw .bad("path", cause: "it does not begin with '/'")
            }
            // sockaddr_un of unix(7) holds 108 bytes with the NUL at the end.
            guard text.utf8.count < 108, !text.utf8.contains(0) else {
                throw .bad("path", cause: "no socket can have it: at most 107 bytes, and no NUL")
            }
            return text
        }
    }
}

extension ValueType where Value == [HeaderField] {
    static var headers: Self {
        Self(expected: "a table of strings such as { X-Team = \"shop\" }") {
            value throws(ValueProblem) in
            guard case .table(let table) = value else { throw .wrongType() }
            var fields: [HeaderField] = []
            for member in table.members {
                guard case .string(let value) = member.node.value else {
                    throw .bad(
                        "header",
                        cause: "the value of \(member.key.quoted) is \(member.node.value.noun), "
                            + "not a string")
                }
                let field = HeaderField(name: member.key, value: value)
                if let problem = field.problem { throw .bad("header", cause: problem) }
                fields.append(field)
            }
            return fields
        } write: { fields in
            let object = JSON.Object(fields.map { ($0.name, .string($0.value)) })
            return fields.isEmpty ? "{}" : object.toml
        }
    }
}

extension HeaderField {
    /// Why it cannot be sent: it would end the line, it belongs to the daemon, or it is a secret.
    fileprivate var problem: String? {
        let isToken = name.isASCII(from: "!") && !name.utf8.contains(where: separators.contains)
        guard isToken, !name.isEmpty else { return "\(name.quoted) is not the name of a header" }
        guard value.utf8.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x09 }) else {
            return "the value of \(name.quoted) is not one line of ASCII"
        }
        switch name.lowercased() {
        case "authorization", "proxy-authorization", "cookie":
            return "\(name.quoted) is a secret; do not write it in this file; use 'bearer'"
        case "accept-encoding", "connection", "content-length", "expect", "host", "if-match",
            "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "range", "te",
            "trailer", "transfer-encoding", "upgrade":
            return "\(name.quoted) is set by the daemon"
        default: return nil
        }
    }
}

/// The ASCII characters that no name of a header has (RFC 9110 §5.6.2).
private let separators = #""(),/:;<=>?@[\]{}"#.utf8
