/// The bytes that JSON's grammar is made of (RFC 8259 §2).
extension UInt8 {
    static let tab = UInt8(ascii: "\t")
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let space = UInt8(ascii: " ")

    static let openBracket = UInt8(ascii: "[")
    static let closeBracket = UInt8(ascii: "]")
    static let openBrace = UInt8(ascii: "{")
    static let closeBrace = UInt8(ascii: "}")
    static let comma = UInt8(ascii: ",")
    static let colon = UInt8(ascii: ":")

    static let quote = UInt8(ascii: "\"")
    static let backslash = UInt8(ascii: "\\")
    static let slash = UInt8(ascii: "/")

    static let plus = UInt8(ascii: "+")
    static let minus = UInt8(ascii: "-")
    static let point = UInt8(ascii: ".")
    static let zero = UInt8(ascii: "0")
    static let lowerE = UInt8(ascii: "e")
    static let upperE = UInt8(ascii: "E")

    /// 0 to 9.
    var isDigit: Bool { self >= .zero && self <= UInt8(ascii: "9") }

    /// Space, tab, line feed or carriage return: the only white space there is.
    var isWhitespace: Bool {
        self == .space || self == .lineFeed || self == .carriageReturn || self == .tab
    }

    /// A to Z, a to z.
    var isLetter: Bool {
        let lower = self | 0x20
        return lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z")
    }

    /// U+0000 to U+001F, which a string may hold only escaped (RFC 8259 §7).
    var isControl: Bool { self < .space }
}
