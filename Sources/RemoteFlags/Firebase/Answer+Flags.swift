import CivilTime
import Decision
import JSON

extension Answer {
    /// An answer whose flags were made from what came, and are stored in the place of that: in the
    /// order of their keys, so that the same flags are the same bytes.
    init(_ flags: JSON.Object, validators: Validators, version: String?, fetchedAt: Instant) {
        let isSorted = zip(flags.members, flags.members.dropFirst()).allSatisfy {
            $0.key.utf8.lexicographicallyPrecedes($1.key.utf8)
        }
        let sorted = isSorted ? flags : JSON.Object(flags.membersByKey)
        self.init(
            body: Array(JSON.Value.object(sorted).serialized().utf8), flags: sorted,
            validators: validators, version: version, fetchedAt: fetchedAt)
    }
}

extension JSON.Object {
    /// The members in the order of their keys, byte by byte.
    var membersByKey: [(String, JSON.Value)] {
        members
            .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            .map { ($0.key, $0.value) }
    }
}

extension [String] {
    /// The first of these clauses, and how many more there are: a template has thousands of conditions.
    var summed: [String] {
        let shown = 20
        return count <= shown
            ? self : prefix(shown) + ["and \(count - shown) more things are strange"]
    }
}
