import Decision

/// The journal's catalog and the lists in killswitchd(8), made from the tables of findings, events and reasons.
enum FindingPages {
    /// The whole catalog, for journalctl -x.
    static var catalog: String {
        let findings = Finding.Kind.allCases.compactMap { kind -> String? in
            guard let id = kind.row.messageID else { return nil }
            return entry(id, kind.row.title, [kind.row.meaning, "To do: \(kind.row.advice)"])
        }
        let events = LogMessage.Kind.allCases.map { kind in
            entry(kind.row.messageID, kind.row.title, [kind.row.meaning])
        }
        return
            "# Explanations of the messages of killswitchd for journalctl -x (journalctl(1)).\n\n"
            + (events + findings).joined(separator: "\n")
    }

    /// The list of events for the page.
    static var events: String {
        LogMessage.Kind.allCases.map { kind in
            ".It Li \(kind.row.messageID)\n" + lines(kind.row.title + ".")
        }.joined()
    }

    /// The list of findings for the page.
    static var findings: String {
        Finding.Kind.allCases.map { kind in
            ".It Cm \(kind.rawValue)\n" + lines(kind.row.meaning)
                + lines("To do: \(kind.row.advice)" + (kind.row.advice.hasSuffix(".") ? "" : "."))
                + (kind.row.messageID.map { ".Pq Li \($0)\n" } ?? "")
        }.joined()
    }

    /// The list of reasons for the page, without those why a signed document is refused.
    static var reasons: String { items { !$0.isRefusal } }

    /// The list of reasons why a signed document is refused.
    static var refusals: String { items(\.isRefusal) }

    private static func items(_ isListed: (Reason.Slug) -> Bool) -> String {
        Reason.Slug.allCases.filter(isListed).map { slug in
            ".It Cm \(slug.rawValue)\n" + lines(slug.meaning)
        }.joined()
    }

    private static func entry(_ id: String, _ title: String, _ paragraphs: [String]) -> String {
        let text = paragraphs.map { wrapped(fields($0)) }.joined(separator: "\n")
        return """
            -- \(id)
            Subject: \(title)
            Defined-By: killswitchd
            Documentation: man:killswitchd(8)

            \(text)
            """
    }

    /// The journal puts the names in the places of its fields.
    private static func fields(_ text: String) -> String {
        text.replacing("SERVICE", with: "@KILLSWITCH_SERVICE@")
            .replacing("UNIT", with: "@KILLSWITCH_UNIT@")
            .replacing("@KILLSWITCH_@KILLSWITCH_SERVICE@@", with: "@KILLSWITCH_SERVICE@")
            .replacing("@KILLSWITCH_@KILLSWITCH_UNIT@@", with: "@KILLSWITCH_UNIT@")
    }

    private static func wrapped(_ text: String) -> String {
        var lines = [""]
        for word in text.split(separator: " ") {
            if lines[lines.count - 1].count + word.count > 78 { lines.append("") }
            lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + word
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// A text as lines of mdoc(7): quoted words are literal, and a page has its macro.
    private static func lines(_ text: String) -> String {
        var text = text
        for (word, plain) in [
            ("service ", "the service"), ("unit ", "the unit"), ("source ", "the source"),
        ] {
            let field = "@KILLSWITCH_\(word.dropLast().uppercased())@"
            text = text.replacing(word + field, with: plain)
                .replacing(word.capitalized + field, with: plain)
                .replacing(field, with: plain)
        }
        text = text.replacing("killswitchd(8)", with: "this page")
            .replacing("@KILLSWITCH_AUTHOR@", with: "an operator")
            .replacing("@KILLSWITCH_GATE@", with: "as decided")
            .replacing(/@KILLSWITCH_(\w+)@/) { String($0.1) }
        if let first = text.first { text = first.uppercased() + text.dropFirst() }
        text = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        text = text.replacing(/(^|[ (\n])'([^']+)'([.,;:)]*) ?/) { match in
            "\(match.1)\n.Ql \(match.2)"
                + (match.3.isEmpty ? "" : " \(match.3.map(String.init).joined(separator: " "))")
                + "\n"
        }
        text = text.replacing(/([\w\\.-]+)\(([1-8])\)([.,;:]*) ?/) { match in
            "\n.Xr \(match.1.replacing("\\-", with: "-")) \(match.2)"
                + (match.3.isEmpty ? "" : " \(match.3)") + "\n"
        }
        let parts = text.replacing(/([.:]) (?=[A-Z])/) { "\($0.1)\n" }
            .split(separator: "\n").map { line in
                line.trimmingPrefix(" ").replacing(/\ +$/, with: "")
            }
        return parts.filter { !$0.isEmpty }.map { $0 + "\n" }.joined()
    }
}

extension String {
    fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst() }
}
