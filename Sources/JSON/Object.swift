/// A JSON object (RFC 8259 §4): members in order, no key twice.
///
/// Keys are compared byte by byte. A few members are searched one by one; beyond that an index with
/// seeded hashes finds them, so that neither thousands of members nor keys chosen to collide make it
/// slow.
package struct Object: Sendable {
    /// A key and what it stands for.
    package typealias Member = (key: String, value: Value)

    /// The members in the order in which they were read or set.
    package private(set) var members: [Member] = []

    /// Where each key's member is; empty while there are few enough to search.
    private var index: [ExactString: Int] = [:]

    /// Up to how many members a search is no slower than the index.
    private static let searched = 16

    /// For how many members there is room at first.
    private static let usual = 4

    /// An object without members.
    package init() {}

    /// An object with these members in this order. Of several with one key the last counts, in the
    /// place of the first.
    package init(_ members: some Sequence<(String, Value)>) {
        for (key, value) in members { self[key] = value }
    }

    /// How many members there are.
    package var count: Int { members.count }

    /// Whether there is no member.
    package var isEmpty: Bool { members.isEmpty }

    /// The member's value, or nil where there is none; a member that is `null` is `.null`, not nil.
    ///
    /// A new key goes to the end, an old one stays in its place. Setting nil removes the member,
    /// which takes time in proportion to the object.
    package subscript(key: String) -> Value? {
        get {
            position(of: key).map { members[$0].value }
        }
        set {
            switch (position(of: key), newValue) {
            case (nil, nil): break
            case (nil, let value?): if admit(key) { complete(value) }
            case (let position?, let value?): members[position].value = value
            case (let position?, nil): remove(at: position)
            }
        }
    }

    /// Whether there is a member of this key.
    func contains(_ key: String) -> Bool {
        position(of: key) != nil
    }

    /// Adds a member at the end, `null` as yet, and says whether it did: not where there is one of
    /// that key. The key is looked for once, which is most of what an object costs to read.
    mutating func admit(_ key: String) -> Bool {
        if index.isEmpty, members.count == Self.searched { buildIndex() }
        let isNew =
            index.isEmpty
            ? !contains(key)
            : Self.take(&index[ExactString(key)], members.count)
        if members.isEmpty { members.reserveCapacity(Self.usual) }
        if isNew { members.append((key, .null)) }
        return isNew
    }

    /// Gives the member at the end its value.
    mutating func complete(_ value: Value) {
        members[members.count - 1].value = value
    }

    /// Takes a place in the index, where it is free.
    private static func take(_ place: inout Int?, _ position: Int) -> Bool {
        guard place == nil else { return false }
        place = position
        return true
    }

    private func position(of key: String) -> Int? {
        guard index.isEmpty else { return index[ExactString(key)] }
        let bytes = key.utf8Span.span
        for position in members.indices
        where ExactString(members[position].key).consists(of: bytes) {
            return position
        }
        return nil
    }

    private mutating func remove(at position: Int) {
        members.remove(at: position)
        index = [:]
        if members.count > Self.searched { buildIndex() }
    }

    private mutating func buildIndex() {
        // Room for more than there are: to grow is to hash every key again.
        index.reserveCapacity(4 * members.count)
        for (position, member) in members.enumerated() {
            index[ExactString(member.key)] = position
        }
    }
}

extension Object: Sequence {
    package func makeIterator() -> IndexingIterator<[Member]> {
        members.makeIterator()
    }
}

extension Object: Hashable {
    /// Equal whatever the order of the members, which carries no meaning (RFC 8259 §4).
    package static func == (left: Object, right: Object) -> Bool {
        left.count == right.count && left.members.allSatisfy { right[$0.key] == $0.value }
    }

    package func hash(into hasher: inout Hasher) {
        // A sum, as it must not depend on the order.
        var sum = 0
        for (key, value) in members {
            var member = Hasher()
            member.combine(ExactString(key))
            member.combine(value)
            sum &+= member.finalize()
        }
        hasher.combine(sum)
    }
}
