/// A whole number and its unit, written without a blank: `30s`, `512KiB`.
struct Quantity {
    /// Saturated: a number too large for the machine is the largest.
    let number: Int64
    /// What follows the digits; may be empty.
    let unit: String

    /// Nil where `text` does not begin with a digit.
    init?(_ text: String) {
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard !digits.isEmpty else { return nil }
        number = Int64(Substring(digits)) ?? .max
        unit = String(text.utf8.dropFirst(digits.count)) ?? ""
    }

    /// The number times the size of its unit, saturated.
    func times(_ size: Int64) -> Int64 {
        let (product, overflow) = number.multipliedReportingOverflow(by: size)
        return overflow ? .max : product
    }
}
