import CivilTime
package import Decision
import JSON

/// `state.env`: the verdict for shells and for `EnvironmentFile=`.
///
/// Values are quoted in the form that sh and systemd read alike: double quotes, with a backslash before
/// `"`, `\`, `$` and the backtick. Newlines stay as they are. NUL is dropped, which neither can hold, and
/// so are Unicode's noncharacters, for which systemd rejects the whole file. An absent fact is empty.
///
/// The kernel rejects environment strings over 128 KiB, and a remote text must not keep a unit from starting. So titles
/// and messages are cut between characters. Too long a value is left empty: a part of a list is another list.
package enum EnvironmentFile {
    /// The text of the file.
    package static func text(of record: PublishedVerdict, for service: Service) -> String {
        let published = PublishedFacts(record, of: service.name)
        let facts =
            fields.map {
                ($0.variable, $0.value(in: published).text(in: service.zone, joining: ","))
            }
            + record.notices.facts(of: service.name).map { ($0.name, $0.text) }
        let variables =
            facts.map { ($0, quoted($1 ?? "")) }
            + record.verdict.values.map { (variable($0), whole($1.bare)) }
        var bytes: [UInt8] = []
        for (name, value) in variables { bytes += "KILLSWITCH_\(name)=".utf8 + value + "\n".utf8 }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let fields = PublishedFacts.fields(
        on: .shell, first: ["state", "gate", "days_left", "ends_at"])

    /// The variable of a value, whose name has only a-z, 0-9, '-' and '_'. The configuration accepts no doubles.
    private static func variable(_ name: String) -> String {
        "VALUE_" + String(name.uppercased().map { $0 == "-" ? "_" : $0 })
    }

    /// The longest text or value in bytes, with its quotes and escapes.
    static let sizeLimit = 32 << 10

    /// The text in double quotes; empty quotes if it is longer than the limit then.
    private static func whole(_ text: String?) -> [UInt8] {
        guard let text, text.utf8.count <= sizeLimit else { return quoted("") }
        let value = quoted(text, limit: .max)
        return value.count <= sizeLimit ? value : quoted("")
    }

    /// The text in double quotes, cut to about `limit` bytes. It goes by bytes: characters cost forty times as much,
    /// and the flags of one source may be in the files of hundreds of services.
    private static func quoted(_ value: String, limit: Int = sizeLimit) -> [UInt8] {
        let source = Array(value.utf8)
        var text = [UInt8(ascii: "\"")]
        text.reserveCapacity(source.count + 2)
        var position = 0
        while position < source.count, text.count < limit {
            let byte = source[position]
            let length = byte.scalarLength
            if length > 1 {
                let scalar = source[position..<position + length]
                if byte < 0xEF || !scalar.isNoncharacter { text += scalar }
            } else if byte != 0 {
                if byte.isSpecial { text.append(UInt8(ascii: "\\")) }
                text.append(byte)
            }
            position += length
        }
        text.append(UInt8(ascii: "\""))
        return text
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
    /// Whether sh and systemd read it as itself only behind a backslash.
    fileprivate var isSpecial: Bool {
        self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\") || self == UInt8(ascii: "$")
            || self == UInt8(ascii: "`")
    }

    /// The number of bytes of the UTF-8 that begins with this byte.
    fileprivate var scalarLength: Int { self < 0x80 ? 1 : self < 0xE0 ? 2 : self < 0xF0 ? 3 : 4 }
}

extension ArraySlice<UInt8> {
    /// Whether they are one of Unicode's 66 noncharacters: U+FDD0 to U+FDEF, and the last two of each plane.
    fileprivate var isNoncharacter: Bool {
        let code = reduce(0) { $0 << 6 | Int($1 & 0x3F) } & 0xFFFF
        return count > 2
            && (code & 0xFFFE == 0xFFFE || count == 3 && (0xFDD0...0xFDEF).contains(code))
    }
}
