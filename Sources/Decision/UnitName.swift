/// The full name of a systemd unit, such as `web.service` or `worker@3.service` (systemd.unit(5)).
package struct UnitName: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The name as systemd writes it.
    package let text: String

    /// Nil if systemd would refuse the name, and for a template, which is no unit itself.
    package init?(_ text: String) {
        guard text.utf8.count < 256, let dot = text.utf8.lastIndex(of: UInt8(ascii: ".")),
            Self.types.contains(String(text[text.index(after: dot)...]))
        else { return nil }
        let stem = text.utf8[..<dot]
        guard let first = stem.first, first != UInt8(ascii: "@"),
            stem.last != UInt8(ascii: "@"), stem.allSatisfy(Self.isAllowed)
        else { return nil }
        self.text = text
    }

    package var description: String { text }

    package static func < (left: Self, right: Self) -> Bool { left.text < right.text }

    /// The part behind the last dot: `service`, `timer`.
    package var type: Substring {
        text[text.index(after: text.lastIndex(of: ".") ?? text.startIndex)...]
    }

    /// The value of `%i`; nil if the unit is no instance.
    package var instance: Substring? {
        guard let at = text.firstIndex(of: "@"), let dot = text.lastIndex(of: ".") else {
            return nil
        }
        return text[text.index(after: at)..<dot]
    }

    /// What somebody has to name who has named this template, such as `worker@NAME.service`; nil for another text.
    package static func instance(ofTemplate text: String) -> String? {
        let name = text.hasSuffix("@") ? "\(text).service" : text
        guard let place = name.utf8.lastIndex(of: UInt8(ascii: ".")), name[..<place].hasSuffix("@")
        else { return nil }
        let instance = "\(name[..<place])NAME\(name[place...])"
        return UnitName(instance) == nil ? nil : instance
    }

    /// Whether a word is a unit type, the end of a name.
    package static func isType(_ word: String) -> Bool { types.contains(word) }

    private static let types: Set<String> = [
        "automount", "device", "mount", "path", "scope", "service", "slice", "socket", "swap",
        "target", "timer",
    ]

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte.isDigit || byte.isLetter || ":-_.\\@".utf8.contains(byte)
    }
}
