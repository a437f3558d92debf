import JSON

/// Text from outside as the value of a label: short, printable and escaped.
package enum LabelText {
    /// How many characters of a text are shown. The usual digests have 64.
    static let most = 64

    /// A text of more than `most` characters becomes its beginning and a digest of the whole, so that two hosts
    /// with different texts have different labels. What a terminal would not show becomes U+FFFD.
    package static func shortened(_ text: String) -> String {
        guard text.utf8.count > most, text.unicodeScalars.count > most else {
            return text.printable
        }
        let digest = String(digest(of: text), radix: 16)
        return text.printable(limit: most - 20) + " " + digest
    }

    /// A backslash, a quote and a line feed have to be escaped in the value of a label.
    package static func escaped(_ text: String) -> String {
        // Most texts are names of ours.
        guard text.utf8.contains(where: { "\\\"\n".utf8.contains($0) }) else { return text }
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// FNV-1a of 64 bits: not against forgery, but the same on every host.
    private static func digest(of text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
