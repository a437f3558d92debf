import JSON

extension ValueType where Value == Bool {
    static var bool: Self {
        Self(expected: "true or false") { value throws(ValueProblem) in
            guard case .boolean(let bool) = value else { throw .wrongType() }
            return bool
        } write: {
            $0 ? "true" : "false"
        }
    }
}

extension ValueType where Value == String {
    /// The id of a project of Google Cloud, or its number: it becomes a part of a path.
    static var projectID: Self {
        Self(expected: "a string") { value throws(ValueProblem) in
            guard case .string(let text) = value else { throw .wrongType() }
            let isID =
                (1...63).contains(text.utf8.count)
                && text.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                        true
                    default: false
                    }
                }
            guard isID else {
                throw .bad(
                    "project",
                    cause: "write the id of the project: lower-case letters, digits and '-'")
            }
            return text
        } write: {
            $0.tomlText
        }
    }

    /// A word that may stand in a header.
    static var token: Self {
        Self(expected: "a string") { value throws(ValueProblem) in
            guard case .string(let text) = value else { throw .wrongType() }
            guard !text.isEmpty, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw .bad("value", cause: "it is empty, or holds a blank or what is not ASCII")
            }
            return text
        } write: {
            $0.tomlText
        }
    }

    /// What a token is asked for: one scope of OAuth or several, with blanks between.
    static var scope: Self {
        Self(expected: "a string") { value throws(ValueProblem) in
            guard case .string(let text) = value else { throw .wrongType() }
            guard !text.isEmpty, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw .bad("scope", cause: "it is empty, or holds what is not ASCII")
            }
            return text
        } write: {
            $0.tomlText
        }
    }

    /// The address of a service that secrets are sent to: https, or http to this host; without a
    /// query, and less the slashes at its end.
    static var serviceURL: Self {
        Self(expected: "a URL such as \"https://flags.example.com\"") {
            value throws(ValueProblem) in
            guard case .string(let text) = value else { throw .wrongType() }
            let url = URLText(text)
            if let flaw = url.flaw { throw .bad("URL", cause: flaw) }
            guard !text.utf8.contains(UInt8(ascii: "?")) else {
                throw .bad("URL", cause: "it has a query; paths are added to its end")
            }
            guard text.hasPrefix("https:") || url.isLoopback else {
                throw .bad("URL", cause: "write 'https://'; plain http is for this host alone")
            }
            var rest = text[...]
            while rest.last == "/" { rest.removeLast() }
            return String(rest)
        } write: {
            $0.tomlText
        }
    }
}

extension ValueType where Value == String? {
    /// As `serviceURL`, or the word `none`, which is nil.
    static var serviceURLOrNone: Self {
        let url = ValueType<String>.serviceURL
        return Self(expected: "\(url.expected), or \"none\"") { value throws(ValueProblem) in
            if case .string("none") = value { return nil }
            return try url.read(value)
        } write: {
            ($0 ?? "none").tomlText
        }
    }
}

extension ValueType where Value == [Source.Signal] {
    /// A table of strings and numbers: `{ tier = "gold", build = 42 }`.
    static var signals: Self {
        Self(expected: "a table such as { tier = \"gold\", build = 42 }") {
            value throws(ValueProblem) in
            guard case .table(let table) = value else { throw .wrongType() }
            guard table.members.count <= 100 else {
                throw .bad("table", cause: "the service knows at most 100 signals")
            }
            var signals: [Source.Signal] = []
            for member in table.members {
                switch (member.node.value, member.node.value.json) {
                case (.string, let value?), (.integer, let value?), (.float, let value?):
                    signals.append(Source.Signal(name: member.key, value: value))
                default:
                    throw .bad(
                        "signal",
                        cause: "the value of \(member.key.quoted) is \(member.node.value.noun), "
                            + "neither a string nor a finite number")
                }
            }
            // In whatever order they are written, it is the same host.
            return signals.sorted { $0.name < $1.name }
        } write: { signals in
            let members = signals.map { "\($0.name.keyText) = \($0.value.toml)" }
            return members.isEmpty ? "{}" : "{ \(members.joined(separator: ", ")) }"
        }
    }
}
