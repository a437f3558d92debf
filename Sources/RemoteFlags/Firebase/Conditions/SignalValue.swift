/// What a host says of itself under one name.
package enum SignalValue: Hashable, Sendable {
    case text(String)
    case integer(Int64)
    case number(Double)

    /// The signal as a text, for comparisons of texts and versions.
    ///
    /// The official clients take a zero and an empty text for no signal at all, or not; and they write
    /// some numbers differently.
    func asText() throws(Doubt) -> String {
        try refuseNothing()
        switch self {
        case .text(let text):
            return text
        case .integer(let number):
            guard number.magnitude <= 1 << 53 else { throw Doubt(disagreedOn: "\(number)") }
            return String(number)
        case .number(let number):
            let isWrittenAlike =
                number != number.rounded() && (1e-4..<1e16).contains(number.magnitude)
            guard isWrittenAlike else { throw Doubt(disagreedOn: "\(number)") }
            return number.description
        }
    }

    /// The signal as a number.
    func asNumber() throws(Doubt) -> Double {
        try refuseNothing()
        switch self {
        case .text(let text): return try Double(agreedOn: text)
        case .integer(let number): return Double(number)
        case .number(let number): return number
        }
    }

    private func refuseNothing() throws(Doubt) {
        switch self {
        case .text(""): throw Doubt(disagreedOn: "an empty text")
        case .integer(0), .number(0): throw Doubt(disagreedOn: "zero")
        case .text, .integer, .number: break
        }
    }
}

extension Doubt {
    init(disagreedOn what: String) {
        self.init("the official clients disagree on \(what)")
    }
}
