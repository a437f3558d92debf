package import Decision
import JSON

/// The hosts that a fleet should have, by a file: a name a line, perhaps with the part of the slots in which that host
/// is, and with what others call it, as `till-1 50%-100% id=4ec1`. `#` begins a comment.
package struct Inventory: Hashable, Sendable {
    package let names: Set<String>
    /// The part of each host that names one.
    private let parts: [String: SlotRange]
    /// The host that each id means.
    private let ids: [String: String]
    /// The hosts that have an id.
    private let identified: Set<String>

    /// A line that is no name, or a file without any. The description is a clause.
    package struct Mistake: Error, Hashable, CustomStringConvertible {
        package let line: Int?
        package let description: String
    }

    /// The longest name: that of a host by DNS, with a port.
    private static let longest = 260

    /// Names are compared without regard to case. A name may stand twice, with the same part. To Swift the line end of
    /// Windows is one character, and not a line feed.
    package init(_ text: String) throws(Mistake) {
        var names: Set<String> = []
        var parts: [String: SlotRange] = [:]
        var ids: [String: String] = [:]
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let content = line.prefix { $0 != "#" }.trimmed
            guard !content.isEmpty else { continue }
            var name = content
            var part = SlotRange.all
            var id: String?
            while let blank = name.lastIndex(where: \.isWhitespace) {
                let word = String(name[name.index(after: blank)...])
                if word.hasPrefix("id="), word.utf8.count > 3, id == nil {
                    id = String(word.dropFirst(3)).lowercased()
                } else if word.last == "%", part == .all {
                    guard let written = SlotRange(word) else {
                        throw Mistake(
                            line: index + 1,
                            description:
                                "'\(word.printable(limit: 64))' is not a part of the slots; write two "
                                + "percentages, the lower one first, such as 50%-100%")
                    }
                    part = written
                } else {
                    break
                }
                name = name[..<blank].trimmed
            }
            guard name.utf8.count <= Self.longest, name.utf8.allSatisfy(Self.isAllowed) else {
                throw Mistake(
                    line: index + 1,
                    description:
                        "'\(String(name).printable(limit: 64))' is not the name of a host; write one a line"
                )
            }
            if !names.insert(name.lowercased()).inserted, parts[name.lowercased()] ?? .all != part {
                throw Mistake(
                    line: index + 1, description: "'\(name)' has another part in an earlier line")
            }
            if part != .all { parts[name.lowercased()] = part }
            if let id, let other = ids.updateValue(name.lowercased(), forKey: id),
                other != name.lowercased()
            {
                throw Mistake(
                    line: index + 1,
                    description: "the id of '\(name)' is that of '\(other)' in an earlier line")
            }
        }
        guard !names.isEmpty else { throw Mistake(line: nil, description: "it names no host") }
        (self.names, self.parts, self.ids) = (names, parts, ids)
        identified = Set(ids.values)
    }

    /// The part of the slots in which a host of it is.
    package func part(of name: String) -> SlotRange { parts[name] ?? .all }

    /// The name of the inventory that means this host; nil without one. What a host calls itself does not count: one
    /// host must not hide that others are silent. A line with an id means the host of that id alone.
    func name(of host: FleetHost) -> String? {
        let id = host.id.lowercased()
        if let name = ids[id] { return name }
        if names.contains(id), !identified.contains(id) { return id }
        return host.aliases.map { $0.lowercased() }.first(where: names.contains)
    }

    /// Letters, digits, and what names, addresses and ports have besides.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: ".-_:[]".utf8.contains(byte)
        }
    }
}

extension Substring {
    /// Without the blanks around it.
    fileprivate var trimmed: Substring {
        var rest = self
        while let first = rest.first, first.isWhitespace { rest.removeFirst() }
        while let last = rest.last, last.isWhitespace { rest.removeLast() }
        return rest
    }
}
