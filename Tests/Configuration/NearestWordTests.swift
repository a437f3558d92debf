import Configuration
import Testing

struct Edit: Sendable, CustomTestStringConvertible {
    let left: String
    let right: String
    let distance: Int
    var testDescription: String { "\(left) → \(right)" }
}

@Test(arguments: [
    Edit(left: "", right: "", distance: 0),
    Edit(left: "", right: "abc", distance: 3),
    Edit(left: "abc", right: "abc", distance: 0),
    Edit(left: "interval", right: "intervall", distance: 1),
    Edit(left: "interval", right: "inteval", distance: 1),
    Edit(left: "interval", right: "intervql", distance: 1),
    Edit(left: "interval", right: "intreval", distance: 1),
    Edit(left: "ab", right: "ba", distance: 1),
    Edit(left: "ca", right: "abc", distance: 3),
    Edit(left: "kitten", right: "sitting", distance: 3),
    Edit(left: "größe", right: "große", distance: 2),
    Edit(left: "a", right: "ä", distance: 2),
])
func theDistanceCountsEditsOfBytesAndSwapsOfNeighbours(_ edit: Edit) {
    let (left, right) = (Array(edit.left.utf8), Array(edit.right.utf8))
    #expect(editDistance(left, right, atMost: 10) == edit.distance)
    #expect(editDistance(right, left, atMost: 10) == edit.distance)
    #expect(editDistance(left, right, atMost: edit.distance) == edit.distance)
    #expect(editDistance(left, right, atMost: edit.distance - 1) == nil)
}

@Test(
    arguments: [
        ("intervall", "interval"), ("intreval", "interval"), ("time_out", "timeout"),
        ("Type", "type"), ("tpye", "type"), ("interval", "interval"),
        ("colour", nil), ("", nil), ("x", nil), ("ty", nil), ("interval_between_polls", nil),
    ] as [(String, String?)])
func aWordIsNearIfAtMostAThirdOfItIsWrong(_ text: String, word: String?) {
    #expect(nearest(to: text, among: ["type", "interval", "timeout"]) == word)
}

@Test func ofEquallyNearWordsTheFirstIsSuggested() {
    #expect(nearest(to: "cat", among: ["bat", "car", "rat"]) == "bat")
    #expect(nearest(to: "catt", among: ["bat", "cat", "rat"]) == "cat")
}
