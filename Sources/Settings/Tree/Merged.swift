/// All files as one tree. Each leaf keeps the place it comes from.
package struct Merged: Hashable, Sendable {
    /// In the order in which they were merged.
    package var files: [String]
    package var root: Table

    /// Merges in the order given. Tables are merged member by member; anything else, an array
    /// included, is replaced by a later file whole.
    package init(_ fragments: [Fragment]) {
        files = fragments.map(\.file)
        root = fragments.first?.root ?? Table()
        for fragment in fragments.dropFirst() {
            root.merge(fragment.root)
        }
    }
}

extension Table {
    /// A replaced member keeps its place in the order; a new one goes to the end.
    fileprivate mutating func merge(_ later: Table) {
        var indices: [[UInt8]: Int] = [:]
        for (index, member) in members.enumerated() {
            indices[Array(member.key.utf8)] = index
        }
        for member in later.members {
            guard let index = indices[Array(member.key.utf8)] else {
                members.append(member)
                continue
            }
            switch (members[index].node.value, member.node.value) {
            case (.table(var earlier), .table(let later)):
                earlier.merge(later)
                members[index].node.value = .table(earlier)
            default:
                members[index] = member
            }
        }
    }
}
