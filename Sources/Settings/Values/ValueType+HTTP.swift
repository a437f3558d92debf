import Files

extension ValueType where Value == String {
    /// The URL of a document, such as `https://flags.example.com/shop.json`.
    static var url: Self {
        Self(expected: "a URL such as \"https://flags.example.com/shop.json\"") {
            value throws(ValueProblem) in
            guard case .string(let text) = value else { throw .wrongType() }
            if let flaw = URLText(text).flaw { throw .bad("URL", cause: flaw) }
            return text
        } write: {
            $0.tomlText
        }
    }

    /// The absolute path of a Unix socket.
    static var socketPath: Self {
        Self(expected: "a path") { value throws(ValueProblem) in
            guard case .string(let text) = value else { throw .wrongType() }
            guard text.utf8.first == UInt8(ascii: "/") else {
                throw .bad("path", cause: "it does not begin with '/'")
            }
            // sockaddr_un of unix(7) holds 108 bytes with the NUL at the end.
            guard text.utf8.count < 108, !text.utf8.contains(0) else {
                throw .bad("path", cause: "no socket can have it: at most 107 bytes, and no NUL")
            }
            return text
        } write: {
            $0.tomlText
        }
    }
}

extension ValueType where Value == Credential {
    /// A credential's name, or the absolute path of a file.
    static var credential: Self {
        Self(expected: "the name of a credential or an absolute path") {
            value throws(ValueProblem) in
            guard case .string(let text) = value else { throw .wrongType() }
            guard let credential = Credential(text) else {
                throw .bad(
                    "credential",
                    cause: "write the name of a credential, without '/', or an absolute path")
            }
            return credential
        } write: {
            $0.text.tomlText
        }
    }
}

extension ValueType where Value == [Source.HeaderField] {
    /// A table of header fields: `{ X-Team = "shop" }`.
    static var headers: Self {
        Self(expected: "a table of strings such as { X-Team = \"shop\" }") {
            value throws(ValueProblem) in
            guard case .table(let table) = value else { throw .wrongType() }
            var fields: [Source.HeaderField] = []
            for member in table.members {
                guard case .string(let value) = member.node.value else {
                    throw .bad(
                        "header",
                        cause:
                            "the value of \(member.key.quoted) is \(member.node.value.noun), not "
                            + "a string")
                }
                let field = Source.HeaderField(name: member.key, value: value)
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

extension Source.HeaderField {
    /// What keeps it from being sent: nothing may end the line, and nothing that is the daemon's own
    /// business or a secret may be said here.
    fileprivate var flaw: String? {
        let isToken =
            !name.isEmpty
            && name.utf8.allSatisfy { byte in
                (0x21...0x7E).contains(byte) && !#""(),/:;<=>?@[\]{}"#.utf8.contains(byte)
            }
        guard isToken else { return "\(name.quoted) is no name of a header" }
        guard value.utf8.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x09 }) else {
            return "the value of \(name.quoted) holds what cannot be sent: ASCII on one line can"
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
