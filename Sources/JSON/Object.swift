/// A JSON object (RFC 8259 §4): members in order, no key twice.
///
/// Keys are compared byte by byte. From 32 members on an index with seeded hashes finds them, so that neither
/// thousands of members nor keys chosen to collide make it slow.
package struct Object: Sendable {
    package typealias Member = (key: String, value: Value)

    /// The members in the order in which they were read or set.
    package private(set) var members: [Member] = []

    /// A hash table of the keys, at most half full: the position of a member and 1, or 0. It is empty
    /// while there are few enough members to search. Positions alone take a tenth of a `Dictionary`.
    private var index: [UInt32] = []

    /// Up to this many members a linear search is no slower than the index.
    private static let searched = 32

    /// How many members the first allocation has room for.
    private static let usual = 4

    package init() {}

    /// An object with these members in this order. The last value of a key counts, at the position of the first.
    package init(_ members: some Sequence<(String, Value)>) {
        self.members.reserveCapacity(Swift.min(members.underestimatedCount, Self.searched))
        for (key, value) in members { self[key] = value }
    }

    package var count: Int { members.count }

    package var isEmpty: Bool { members.isEmpty }

    /// The member's value; nil without such a member. A member that is `null` is `.null`, not nil.
    ///
    /// A new key goes to the end, an existing one keeps its position. Setting nil removes the member, in linear time.
    package subscript(key: String) -> Value? {
        get { position(of: key).map { members[$0].value } }
        set {
            switch (position(of: key), newValue) {
            case (nil, nil): break
            case (nil, let value?): if admit(key) { complete(value) }
            case (let position?, let value?): members[position].value = value
            case (let position?, nil): remove(at: position)
            }
        }
    }

    /// The strings of a member that is a list; empty without it.
    package func strings(_ key: String) -> [String] {
        (self[key]?.array ?? []).compactMap(\.string)
    }

    /// The objects of a member that is a list; empty without it.
    package func objects(_ key: String) -> [Object] {
        (self[key]?.array ?? []).compactMap(\.object)
    }

    /// Appends a member with the value `null`, unless the key exists; says whether it did. It searches the key once.
    mutating func admit(_ key: String) -> Bool {
        if index.isEmpty, members.count == Self.searched { buildIndex() }
        if members.isEmpty { members.reserveCapacity(Self.usual) }
        guard !index.isEmpty else {
            guard position(of: key) == nil else { return false }
            members.append((key, .null))
            return true
        }
        let slot = slot(of: key)
        guard index[slot] == 0 else { return false }
        members.append((key, .null))
        index[slot] = UInt32(members.count)
        if 2 * members.count > index.count { buildIndex() }
        return true
    }

    /// Gives back the room for more members.
    mutating func trim() { members = members.trimmed }

    mutating func complete(_ value: Value) { members[members.count - 1].value = value }

    /// The slot of a key in the index: that of its member, or an empty one.
    private func slot(of key: String) -> Int {
        let (mask, wanted) = (index.count - 1, key.utf8Span.span)
        var slot = ExactString(key).hashValue & mask
        while index[slot] != 0, !ExactString(members[Int(index[slot]) - 1].key).consists(of: wanted)
        {
            slot = (slot + 1) & mask
        }
        return slot
    }

    private func position(of key: String) -> Int? {
        guard index.isEmpty else {
            let entry = index[slot(of: key)]
            return entry == 0 ? nil : Int(entry) - 1
        }
        let bytes = key.utf8Span.span
        for position in members.indices
        where ExactString(members[position].key).consists(of: bytes) {
            return position
        }
        return nil
    }

    private mutating func remove(at position: Int) {
        members.remove(at: position)
        index = []
        if members.count > Self.searched { buildIndex() }
    }

    private mutating func buildIndex() {
        // Room for as many members again: growing hashes every key.
        var size = 4 * Self.searched
        while size < 4 * members.count { size *= 2 }
        index = Array(repeating: 0, count: size)
        for position in members.indices {
            index[slot(of: members[position].key)] = UInt32(position + 1)
        }
    }
}

extension Array {
    /// A copy without much room for more elements, if it is small: of a large one the copy would cost more.
    var trimmed: [Element] {
        guard capacity > count + count / 4, count <= 4096 else { return self }
        var copy: [Element] = []
        copy.reserveCapacity(count)
        copy.append(contentsOf: self)
        return copy
    }
}

extension Object: Sequence, ExpressibleByDictionaryLiteral, Hashable {
    package func makeIterator() -> IndexingIterator<[Member]> { members.makeIterator() }

    package init(dictionaryLiteral elements: (String, Value)...) { self.init(elements) }

    /// Equal whatever the order of the members, which carries no meaning (RFC 8259 §4).
    package static func == (left: Object, right: Object) -> Bool {
        left.count == right.count && left.members.allSatisfy { right[$0.key] == $0.value }
    }

    /// Feeds a sum over the members to the hasher, so that their order does not count.
    package func hash(into hasher: inout Hasher) {
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

/// A string that equals another only byte by byte, as RFC 8259 §8.3 compares strings.
///
/// Swift's own `==` goes by canonical equivalence, where the Kelvin sign is the letter K. Its hash is the same for all
/// spellings of an accented word, of which there are exponentially many: a document could slow a hash table down.
package struct ExactString: Hashable, Sendable {
    package let text: String

    /// Wraps a string for comparison by bytes.
    package init(_ text: String) { self.text = text }

    package static func == (left: ExactString, right: ExactString) -> Bool {
        left.consists(of: right.text.utf8Span.span)
    }

    /// Whether the string has these bytes of UTF-8.
    func consists(of bytes: Span<UInt8>) -> Bool {
        guard text.utf8.count == bytes.count else { return false }
        let own = text.utf8Span.span
        for index in own.indices where own[index] != bytes[index] { return false }
        return true
    }

    /// Feeds the hasher with eight bytes at a time, then with the length, for strings that differ in leading NULs.
    package func hash(into hasher: inout Hasher) {
        let bytes = text.utf8Span.span
        var word: UInt64 = 0
        for index in bytes.indices {
            word = word << 8 | UInt64(bytes[index])
            if index % 8 == 7 { hasher.combine(word) }
        }
        hasher.combine(word)
        hasher.combine(bytes.count)
    }
}
