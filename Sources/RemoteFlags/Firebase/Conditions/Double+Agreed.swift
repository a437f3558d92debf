import Decision

extension Double {
    /// The number that both official clients read in a text: decimal digits with a sign, a fraction
    /// and an exponent at most, or `Infinity`, with blanks around.
    ///
    /// One of them reads `nan`, `inf`, `1_0` and digits of every script besides, the other `0x10` and
    /// the empty text.
    init(agreedOn text: String) throws(Doubt) {
        let trimmed = String(Blanks.both.trim(text))
        guard trimmed.isDecimalNumber, let value = Double(trimmed) else {
            throw Doubt("\(quoted(text)) is no number to both official clients")
        }
        self = value
    }
}

extension String {
    fileprivate var isDecimalNumber: Bool {
        var rest = utf8[...]
        rest.skipSign()
        if rest.elementsEqual("Infinity".utf8) { return true }
        let whole = rest.skipDigits()
        var fraction = 0
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            fraction = rest.skipDigits()
        }
        guard whole + fraction > 0 else { return false }
        if let mark = rest.first, mark | 0x20 == UInt8(ascii: "e") {
            rest.removeFirst()
            rest.skipSign()
            guard rest.skipDigits() > 0 else { return false }
        }
        return rest.isEmpty
    }
}

extension Substring.UTF8View {
    fileprivate mutating func skipSign() {
        if first == UInt8(ascii: "+") || first == UInt8(ascii: "-") { removeFirst() }
    }

    /// How many digits there were.
    fileprivate mutating func skipDigits() -> Int {
        let digits = prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        removeFirst(digits.count)
        return digits.count
    }
}
