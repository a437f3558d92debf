import CivilTime
package import Decision
import JSON

/// `state.env`: the verdict for shells and for `EnvironmentFile=`.
///
/// Values are quoted in the form that sh and systemd read alike: double quotes, with a backslash before
/// `"`, `\`, `$` and the backtick. Newlines stay as they are. NUL is dropped, which neither can hold, and
/// so are Unicode's noncharacters, for which systemd rejects the whole file. An absent fact is empty.
///
/// The kernel rejects environment strings over 128 KiB, and a remote text must not keep a unit from
/// starting. So titles and messages are cut between characters. A value that is too long is left empty,
/// because a part of a list would be another list.
package enum EnvironmentFile {
    /// The text of the file.
    package static func text(of record: Record, for service: Service) -> String {
        let published = PublishedVerdict(record, of: service.name)
        var variables = fields.map { field in
            (
                field.variable,
                field.value(in: published).text(in: service.zone, joining: ",")
            )
        }
        variables += record.notices.facts(of: service.name)
        for (name, value) in record.verdict.values {
            variables.append((variable(name), value.bare.flatMap { fits($0) ? $0 : nil }))
        }
        return variables.map { "KILLSWITCH_\($0)=\(quoted($1 ?? ""))\n" }.joined()
    }

    private static let fields = PublishedVerdict.fields(
        on: .shell, first: ["state", "gate", "days_left", "ends_at"])

    /// The variable of a value. Names of values have only a-z, 0-9, '-' and '_', and the configuration
    /// accepts no two that give the same variable.
    private static func variable(_ name: String) -> String {
        "VALUE_" + String(name.uppercased().map { $0 == "-" ? "_" : $0 })
    }

    /// The longest text or value in bytes, with its quotes and escapes.
    static let sizeLimit = 32 << 10

    /// Whether a text is within the limit once it is quoted.
    private static func fits(_ text: String) -> Bool {
        text.utf8.count <= sizeLimit && quoted(text, limit: .max).utf8.count <= sizeLimit
    }

    /// The text in double quotes, cut to about `limit` bytes.
    static func quoted(_ value: String, limit: Int = sizeLimit) -> String {
        // Most values have nothing to escape, and there may be thousands of services.
        if value.utf8.count < limit, value.utf8.allSatisfy(\.isPlain) { return "\"\(value)\"" }
        var text = "\""
        for scalar in value.unicodeScalars {
            guard text.utf8.count < limit else { break }
            switch scalar {
            case "\0": continue
            case _ where scalar.isNoncharacter: continue
            case "\"", "\\", "$", "`": text.unicodeScalars.append("\\")
            default: break
            }
            text.unicodeScalars.append(scalar)
        }
        return text + "\""
    }
}

extension [PublicNotice] {
    /// What was told last, a line for each notice; the other facts are those of the first.
    func facts(of service: ServiceName) -> [(name: String, text: String?)] {
        [
            ("NOTICE", map { $0.sentence(of: service) }.joined(separator: "\n")),
            ("NOTICE_KIND", first?.kind.rawValue),
            ("NOTICE_AT", first?.announcement.from.description),
            ("NOTICE_BEFORE", first?.lead.map { String($0.wholeSeconds) }),
        ]
    }
}

extension UInt8 {
    /// Whether it is printable ASCII that is never escaped.
    fileprivate var isPlain: Bool {
        switch self {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "$"), UInt8(ascii: "`"): false
        default: self >= 0x20 && self < 0x7F
        }
    }
}

extension Unicode.Scalar {
    /// Whether it is one of Unicode's 66 noncharacters: U+FDD0 to U+FDEF, and the last two of each plane.
    fileprivate var isNoncharacter: Bool {
        (0xFDD0...0xFDEF).contains(value) || value & 0xFFFE == 0xFFFE
    }
}
