import JSON

/// The hosts that a fleet should have, by a file: a name a line, `#` begins a comment.
package struct Inventory: Hashable, Sendable {
    package let names: Set<String>

    /// A line that is no name, or a file without any. The description is a clause.
    package struct Mistake: Error, Hashable, CustomStringConvertible {
        package let line: Int?
        package let description: String
    }

    /// The longest name: that of a host by DNS, with a port.
    private static let longest = 260

    /// Names are compared without regard to case. A name may stand twice. To Swift the line end of Windows is one
    /// character, and not a line feed.
    package init(_ text: String) throws(Mistake) {
        var names: Set<String> = []
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let name = line.prefix { $0 != "#" }.trimmed
            guard !name.isEmpty else { continue }
            guard name.utf8.count <= Self.longest, name.utf8.allSatisfy(Self.isAllowed) else {
                throw Mistake(
                    line: index + 1,
                    description:
                        "'\(String(name).printable(limit: 64))' is not the name of a host; write one a line"
                )
            }
            names.insert(name.lowercased())
        }
        guard !names.isEmpty else { throw Mistake(line: nil, description: "it names no host") }
        self.names = names
    }

    /// The names of the inventory that mean this host.
    func names(of host: FleetHost) -> Set<String> {
        names.intersection(([host.id, host.name] + host.aliases).map { $0.lowercased() })
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
