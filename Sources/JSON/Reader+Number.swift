extension Reader {
    /// Reads a number from its sign or first digit (RFC 8259 §6).
    mutating func readNumber() throws(SyntaxError) -> Number {
        let start = offset
        _ = skip(.minus)
        if skip(.zero) {
            guard next?.isDigit != true else { throw unexpected(.noDigitAfterZero) }
        } else {
            try readDigits()
        }
        if skip(.point) { try readDigits() }
        if skip(.lowerE) || skip(.upperE) {
            _ = skip(.plus) || skip(.minus)
            try readDigits()
        }
        return Number(wellFormed: String(decoding: bytes[start..<offset], as: UTF8.self))
    }

    /// Moves past digits, of which there must be one.
    private mutating func readDigits() throws(SyntaxError) {
        guard let digit = next, digit.isDigit else { throw unexpected(.digit) }
        while let digit = next, digit.isDigit { offset += 1 }
    }
}
