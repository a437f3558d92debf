import JSON

/// One configuration file: any TOML, each node with its place. Keys and values are checked after all
/// files are merged, because one file alone need not be complete.
package struct Fragment: Hashable, Sendable {
    package var file: String
    package var root: Table

    /// The largest file that is parsed. A configuration of a thousand services is a tenth of it.
    package static let largestFile = 1 << 20

    /// Throws a syntax error, or that the file is too large.
    package init(file: String, bytes: [UInt8]) throws(Diagnostic) {
        guard bytes.count <= Self.largestFile else {
            throw Diagnostic(
                origin: Origin(file: file),
                text: "file of \(bytes.count) bytes: at most \(Self.largestFile) are read")
        }
        self.file = file
        self.root = try Table(toml: bytes, file: file)
    }
}

extension Table {
    /// Merges files in their order. Tables are merged member by member; a later file replaces any other
    /// value, also an array, as a whole. Each leaf keeps its place in its file.
    package init(merging fragments: [Fragment]) {
        self = fragments.first?.root ?? Table()
        for fragment in fragments.dropFirst() { merge(fragment.root) }
    }

    /// A replaced member keeps its position; a new member goes to the end.
    fileprivate mutating func merge(_ later: Table) {
        let keys = members.map { ExactString($0.key) }
        let indices = Dictionary(zip(keys, 0...), uniquingKeysWith: { first, _ in first })
        for member in later.members {
            guard let index = indices[ExactString(member.key)] else {
                members.append(member)
                continue
            }
            switch (members[index].node.value, member.node.value) {
            case (.table(var earlier), .table(let later)):
                earlier.merge(later)
                members[index].node.value = .table(earlier)
            default: members[index] = member
            }
        }
    }
}
