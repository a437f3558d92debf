/// The word of `words` that `text` was probably meant to be; nil where none is near.
///
/// Near is one mistake in three characters. Of several equally near ones the first is taken.
package func nearest(to text: String, among words: some Sequence<String>) -> String? {
    let wanted = Array(text.utf8)
    var limit = min(3, max(1, wanted.count / 3))
    var nearest: String?
    for word in words {
        guard let distance = editDistance(wanted, Array(word.utf8), atMost: limit) else { continue }
        if distance == 0 { return word }
        nearest = word
        limit = distance - 1
    }
    return nearest
}

/// How many bytes must be inserted, removed, replaced, or swapped with their neighbour to make one
/// of the other; nil where that is more than `limit`.
///
/// The optimal string alignment distance: Damerau and Levenshtein's, without editing a swapped pair
/// again. Time grows with the product of the lengths, so those that differ by too much are not tried.
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
