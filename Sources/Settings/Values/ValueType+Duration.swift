extension ValueType where Value == Duration {
    /// A duration as text.
    static func duration(in range: ClosedRange<Duration>) -> Self {
        Self(expected: "a duration") { value throws(ValueProblem) in
            try readDuration(value, in: range)
        } write: {
            $0.text.tomlText
        }
    }
}

extension ValueType where Value == Duration? {
    /// A duration as text, or the word `never`, which is nil.
    static func durationOrNever(in range: ClosedRange<Duration>) -> Self {
        Self(expected: "a duration or \"never\"") { value throws(ValueProblem) in
            if case .string("never") = value { return nil }
            return try readDuration(value, in: range, or: ", or 'never'")
        } write: {
            ($0?.text ?? "never").tomlText
        }
    }
}

private func readDuration(
    _ value: Node.Value, in range: ClosedRange<Duration>, or alternative: String = ""
) throws(ValueProblem) -> Duration {
    switch value {
    case .string(let text):
        guard let duration = Duration(text: text) else {
            throw .bad(
                "duration",
                cause: "write a number and a unit (ms, s, m, h, d), such as '30s'\(alternative)")
        }
        guard range.contains(duration) else {
            let (least, most) = (range.lowerBound.text, range.upperBound.text)
            throw .bad("duration", cause: "expected \(least) to \(most)\(alternative)")
        }
        return duration
    case .integer(let number):
        // Whoever writes a bare number means seconds.
        throw .wrongType(hint: "write \"\(number < 0 ? 30 : number)s\"")
    case .float, .boolean, .date, .time, .dateTime, .array, .table:
        throw .wrongType(hint: "write a number and a unit, such as \"30s\"")
    }
}
