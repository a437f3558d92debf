import CivilTime
import JSON

/// What a format has forgiven in one answer, each a clause of a warning that names the key.
///
/// What decides is strict, what decorates is lenient: an order that can be read is obeyed, although a text beside it
/// is too long or has a wrong type. A format reads what decides with `Flag` alone, and what decorates through here.
struct Leniency {
    private(set) var clauses: [String] = []

    /// The value of a flag that decorates; nil, with a warning, if it cannot be read.
    mutating func value<Value>(
        of flag: Flag, _ read: (Flag) throws(InvalidFlag) -> Value?
    ) -> Value? {
        do {
            return try read(flag)
        } catch {
            forgive(flag, "\(error); it counts as absent")
            return nil
        }
    }

    /// A title or a message: another type counts as absent, and a long text is cut at a character.
    mutating func text(_ flag: Flag, _ limit: FlagLimit) -> String? {
        guard let text = value(of: flag, { flag throws(InvalidFlag) in try flag.optionalString() })
        else { return nil }
        // A character takes one to four bytes.
        guard text.utf8.count > limit.count else { return text }
        let length = text.unicodeScalars.count
        guard length > limit.count else { return text }
        var (cut, room) = ("", limit.count - 1)
        for character in text {
            room -= character.unicodeScalars.count
            if room < 0 { break }
            cut.append(character)
        }
        forgive(flag, "key \(quoted(flag.key)) \(limit.clause(of: length)); it is cut")
        return cut + "…"
    }

    /// The wait between two polls: a whole number of seconds, or a string that holds one.
    mutating func wait(_ flag: Flag) -> Duration? {
        value(of: flag) { flag throws(InvalidFlag) in try flag.optionalWait() }
    }

    /// Whether units may run on for the drain: what is no Boolean stops them at once.
    mutating func drains(_ flag: Flag) -> Bool {
        guard flag.optional != nil else { return true }
        do {
            return try flag.boolean()
        } catch {
            forgive(flag, "\(error); it counts as false, and units stop at once")
            return false
        }
    }

    /// A time that may be absent; one before 2000 is what an unset time of some language looks like.
    mutating func time(_ flag: Flag) throws(InvalidFlag) -> Instant? {
        guard let time = try flag.optionalTime() else { return nil }
        guard time.isDate else {
            forgive(
                flag,
                "key \(quoted(flag.key)) is a time before 2000, which is no date; it counts as absent"
            )
            return nil
        }
        return time
    }

    /// Warns about each member that the format does not know and that looks like a known one that is absent.
    mutating func suspect(_ members: [Misspelling]) { clauses += members.map(\.clause) }

    /// Adds what a part of the flags has forgiven.
    mutating func add(_ part: Leniency) { clauses += part.clauses }

    /// Adds a warning, with the value that is forgiven.
    mutating func forgive(_ flag: Flag, _ clause: String) {
        let value = flag.optional.map { ": \(quoted($0.serialized().shortened))" } ?? ""
        clauses.append(clause + value)
    }
}

/// A member that no format reads, and whose name is nearly that of a known member that is absent.
struct Misspelling: Hashable {
    let member: String
    let meant: String

    var clause: String {
        "key \(quoted(member)) is unknown and ignored; did you mean \(quoted(meant))?"
    }

    /// Those in `object`, whose known members are `words`; somebody else reads the `others`. One edit makes a word
    /// suspect; two, from seven letters on.
    ///
    /// It runs for each member of each new answer, so the letters of two words are compared before their edits are
    /// counted: an edit changes the letters that a word has by two at most.
    static func all(
        in object: JSON.Object, of words: [String], _ others: Set<ExactString>
    ) -> [Misspelling] {
        var absent: [(word: String, letters: UInt32)] = []
        absent.reserveCapacity(words.count)
        for word in words where object[word] == nil { absent.append((word, letters(of: word))) }
        var found: [Misspelling] = []
        for (member, _) in object {
            let (count, letters) = (member.utf8.count, letters(of: member))
            for (word, known) in absent {
                let edits = word.utf8.count < 7 ? 1 : 2
                guard abs(word.utf8.count - count) <= edits,
                    (letters ^ known).nonzeroBitCount <= 2 * edits, !words.contains(member),
                    !member.isRemark,
                    editDistance(Array(member.utf8), Array(word.utf8), atMost: edits) != nil,
                    !others.contains(ExactString(member))
                else { continue }
                found.append(Misspelling(member: member, meant: word))
                break
            }
            if found.count == most { break }
        }
        return found
    }

    /// The letters of a word, a bit for each, whatever their case.
    private static func letters(of word: String) -> UInt32 {
        var letters: UInt32 = 0
        for byte in word.utf8.prefix(longest) { letters |= 1 << UInt32(byte & 31) }
        return letters
    }

    /// No known member is longer.
    private static let longest = 64
    /// How many are told of one object.
    private static let most = 8
}

extension Instant {
    /// Whether it is a date that somebody may have meant: an unset time of many languages is in 0001, 1900 or 1970.
    package var isDate: Bool { self >= Instant(microseconds: 946_684_800_000_000) }
}

/// How many bytes must be inserted, removed, replaced, or swapped with a neighbour to turn `left` into
/// `right`; nil if more than `limit`.
///
/// The optimal string alignment distance: Damerau and Levenshtein's, without editing a swapped pair
/// again. Time grows with the product of the lengths, so lengths that differ too much return early.
package func editDistance(_ left: [UInt8], _ right: [UInt8], atMost limit: Int) -> Int? {
    guard abs(left.count - right.count) <= limit else { return nil }
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for row in 0..<left.count {
        var current = [row + 1]
        for column in 0..<right.count {
            let replaced = last[column] + (left[row] == right[column] ? 0 : 1)
            var distance = min(last[column + 1] + 1, current[column] + 1, replaced)
            if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                distance = min(distance, beforeLast[column - 1] + 1)
            }
            current.append(distance)
        }
        beforeLast = last
        last = current
    }
    return last[right.count] <= limit ? last[right.count] : nil
}
