import CivilTime
package import Decision
import JSON

/// `state.env`: the verdict for shells and for `EnvironmentFile=`.
///
/// Quoted in the one form that sh and systemd read alike: double quotes, with a backslash before
/// `"`, `\`, `$` and the backtick. Newlines stand as they are. NUL is dropped, which neither can
/// hold, and so are the noncharacters of Unicode, for which systemd refuses the whole file. An absent
/// fact is an empty value.
///
/// The kernel takes no environment string over 128 KiB, and a unit must not fail to start by what a
/// remote message holds. So a text for people is cut, between characters; a value that is too long is
/// left empty, for a part of a list is another list.
package struct EnvironmentFile {
    package static func text(of record: Record, for service: Service) -> String {
        let verdict = record.verdict
        var variables: [(String, String?)] = [
            ("STATE", verdict.state.rawValue),
            ("GATE", verdict.gate?.rawValue),
            ("DAYS_LEFT", verdict.daysLeft.map(String.init)),
            ("ENDS_AT", verdict.endsAt.map(service.zone.rfc3339)),
            ("REASON", verdict.reason.slug.rawValue),
            ("TITLE", verdict.title),
            ("MESSAGE", verdict.message),
            ("VARIANT", verdict.variant),
        ]
        for (name, value) in verdict.values {
            variables.append((variable(name), bare(value).flatMap { fits($0) ? $0 : nil }))
        }
        return variables.map { "KILLSWITCH_\($0)=\(quoted($1 ?? ""))\n" }.joined()
    }

    /// Names of values are of a-z, 0-9, '-' and '_' alone, and no two of a service come to the same.
    private static func variable(_ name: String) -> String {
        "VALUE_"
            + name.uppercased().split(separator: "-", omittingEmptySubsequences: false)
            .joined(separator: "_")
    }

    /// A string as it is, everything else as JSON.
    private static func bare(_ value: JSON.Value) -> String? {
        switch value {
        case .null: nil
        case .string(let text): text
        case .bool, .number, .array, .object: value.serialized(.compact)
        }
    }

    /// The most bytes of a text or a value, quoted.
    static let sizeLimit = 32 << 10

    /// Whether a text can stand there whole.
    private static func fits(_ text: String) -> Bool {
        text.utf8.count <= sizeLimit && quoted(text, limit: .max).utf8.count <= sizeLimit
    }

    static func quoted(_ value: String, limit: Int = sizeLimit) -> String {
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

extension Unicode.Scalar {
    /// The 66 code points that never will be a character: U+FDD0 to U+FDEF, and the last two of each
    /// plane.
    fileprivate var isNoncharacter: Bool {
        (0xFDD0...0xFDEF).contains(value) || value & 0xFFFE == 0xFFFE
    }
}
