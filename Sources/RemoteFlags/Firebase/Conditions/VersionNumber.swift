import Decision

/// A version as conditions compare it: one to five numbers with dots between; what is left out is 0.
struct VersionNumber: Comparable {
    private let segments: [Int64]

    /// Reads what both official clients read alike: digits with a sign and blanks around them at
    /// most, not negative, few enough to be exact in a double.
    init(_ text: String) throws(Doubt) {
        var segments: [Int64] = []
        for part in text.split(separator: ".", omittingEmptySubsequences: false) {
            guard let segment = Self.segment(String(part)) else {
                throw Doubt("\(quoted(text)) is no version to both official clients")
            }
            segments.append(segment)
        }
        guard segments.count <= Self.mostSegments else {
            throw Doubt(disagreedOn: "versions of more than \(Self.mostSegments) numbers")
        }
        self.segments = segments + Array(repeating: 0, count: Self.mostSegments - segments.count)
    }

    static func < (left: Self, right: Self) -> Bool {
        left.segments.lexicographicallyPrecedes(right.segments)
    }

    private static let mostSegments = 5

    private static func segment(_ text: String) -> Int64? {
        let trimmed = String(Blanks.both.trim(text))
        guard trimmed.utf8.count <= 16, let number = Int64(trimmed), number >= 0 else { return nil }
        return number
    }
}
