import SourceKinds

/// The keys of a `[source.NAME]` of type `http`, besides the keys of every type.
package enum HTTPKey: String, SettingKey {
    case url
    case ca
    case clientCertificate = "client_certificate"
    case clientKey = "client_key"
    case bearer
    case headers
    case unixSocket = "unix_socket"
}

extension SourceType {
    /// A document that a web server holds.
    static let http = SourceType(
        word: "http", keys: HTTPKey.words,
        read: { reader, limits, report in
            guard
                let url = reader.required(
                    HTTPKey.url, .documentURL, because: ", which type 'http' needs", &report)
            else { return nil }
            var site = Site(url: url, limits: limits)
            reader.readCertificates(into: &site, &report)
            site.bearer = reader.optional(HTTPKey.bearer, .credential, &report)
            site.headers = reader.optional(HTTPKey.headers, .headers, &report) ?? []
            site.unixSocket = reader.optional(HTTPKey.unixSocket, .socketPath, &report)
            reader.checkCredentials(
                for: [url], "'url' is", secrets: [HTTPKey.bearer.rawValue],
                isLocal: site.unixSocket != nil, &report)
            return .http(site)
        },
        schemes: ["http", "https"],
        members: { address in
            [(HTTPKey.url.rawValue, .string("\(address.scheme):\(address.rest)"))]
        })
}

extension ValueType where Value == String {
    /// The absolute path of a Unix socket.
    fileprivate static var socketPath: Self {
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
    /// A table of header fields: `{ X-Team = "shop" }`.
    fileprivate static var headers: Self {
        Self(expected: "a table of strings such as { X-Team = \"shop\" }") {
            value throws(ValueProblem) in
            guard case .table(let table) = value else { throw .wrongType() }
            var fields: [HeaderField] = []
            for member in table.members {
                guard case .string(let value) = member.node.value else {
                    throw .bad(
                        "header",
                        cause:
                            "the value of \(member.key.quoted) is \(member.node.value.noun), not "
                            + "a string")
                }
                let field = HeaderField(name: member.key, value: value)
                if let flaw = field.flaw { throw .bad("header", cause: flaw) }
                fields.append(field)
            }
            return fields
        } write: { fields in
            let members = fields.map { "\($0.name.keyText) = \($0.value.tomlText)" }
            return members.isEmpty ? "{}" : "{ \(members.joined(separator: ", ")) }"
        }
    }
}

extension HeaderField {
    /// Why it cannot be sent: it would end the line, it belongs to the daemon, or it is a secret.
    fileprivate var flaw: String? {
        let isToken =
            !name.isEmpty
            && name.utf8.allSatisfy { byte in
                (0x21...0x7E).contains(byte) && !#""(),/:;<=>?@[\]{}"#.utf8.contains(byte)
            }
        guard isToken else { return "\(name.quoted) is no name of a header" }
        guard value.utf8.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x09 }) else {
            return "the value of \(name.quoted) is not one line of ASCII"
        }
        switch name.lowercased() {
        case "authorization", "proxy-authorization", "cookie":
            return "\(name.quoted) is a secret, which does not belong into this file; use 'bearer'"
        case "accept-encoding", "connection", "content-length", "expect", "host", "if-match",
            "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "range", "te",
            "trailer", "transfer-encoding", "upgrade":
            return "\(name.quoted) is set by the daemon"
        default:
            return nil
        }
    }
}
