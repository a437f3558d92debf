import CivilTime
package import Decision

/// `state.env`: the verdict for shells and for `EnvironmentFile=`.
///
/// Quoted in the one form that sh and systemd read alike: double quotes, with a backslash before
/// `"`, `\`, `$` and the backtick. Newlines stand as they are; neither can hold a NUL, so it is
/// dropped. An absent fact is an empty value.
package struct EnvironmentFile {
    package static func text(of record: Record, for service: Service) -> String {
        let verdict = record.verdict
        let variables: [(String, String?)] = [
            ("STATE", verdict.state.rawValue),
            ("GATE", verdict.gate?.rawValue),
            ("DAYS_LEFT", verdict.daysLeft.map(String.init)),
            ("ENDS_AT", verdict.endsAt.map(service.zone.rfc3339)),
            ("REASON", verdict.reason.slug.rawValue),
            ("TITLE", verdict.title),
            ("MESSAGE", verdict.message),
            ("VARIANT", nil),
        ]
        return variables.map { "KILLSWITCH_\($0)=\(quoted($1 ?? ""))\n" }.joined()
    }

    /// The most bytes of a text: the kernel takes no environment string over 128 KiB, and a unit must
    /// not fail to start by what a remote message holds.
    static let sizeLimit = 32 << 10

    static func quoted(_ value: String) -> String {
        var text = "\""
        for scalar in value.unicodeScalars {
            guard text.utf8.count < sizeLimit else { break }
            switch scalar {
            case "\0": continue
            case "\"", "\\", "$", "`": text.unicodeScalars.append("\\")
            default: break
            }
            text.unicodeScalars.append(scalar)
        }
        return text + "\""
    }
}
