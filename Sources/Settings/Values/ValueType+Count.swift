extension ValueType where Value == Int {
    /// A whole number of something.
    static func count(in range: ClosedRange<Int>) -> Self {
        Self(expected: "a whole number") { value throws(ValueProblem) in
            guard case .integer(let number) = value else { throw .wrongType() }
            guard let count = Int(exactly: number), range.contains(count) else {
                throw .bad(
                    "number", cause: "expected \(range.lowerBound) to \(range.upperBound)")
            }
            return count
        } write: {
            String($0)
        }
    }
}
