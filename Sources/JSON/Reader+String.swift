extension Reader {
    /// Reads a string from its first quote (RFC 8259 §7).
    mutating func readString() throws(SyntaxError) -> String {
        offset += 1
        let start = offset
        skipPlain()
        let plain = bytes[start..<offset]
        guard !skip(.quote) else { return String(decoding: plain, as: UTF8.self) }
        return try readString(after: plain)
    }

    /// Reads the rest of a string that is more than plain bytes.
    private mutating func readString(
        after plain: ArraySlice<UInt8>
    ) throws(SyntaxError) -> String {
        var text = Array(plain)
        while !skip(.quote) {
            switch next {
            case nil: throw unexpectedCharacter(.endOfString)
            case .backslash: text.append(contentsOf: try readEscape().utf8)
            case let byte? where byte.isControl: throw unexpectedCharacter(.escapedControl)
            default:
                let start = offset
                skipPlain()
                text.append(contentsOf: bytes[start..<offset])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Moves past the bytes that stand for themselves.
    private mutating func skipPlain() {
        var end = offset
        while end < bytes.count {
            let byte = bytes[end]
            if byte == .quote || byte == .backslash || byte.isControl { break }
            end += 1
        }
        offset = end
    }

    /// Reads an escape from its backslash.
    private mutating func readEscape() throws(SyntaxError) -> Unicode.Scalar {
        let start = offset
        offset += 1
        let scalar: Unicode.Scalar
        switch next {
        case .quote: scalar = "\""
        case .backslash: scalar = "\\"
        case .slash: scalar = "/"
        case UInt8(ascii: "b"): scalar = "\u{8}"
        case UInt8(ascii: "f"): scalar = "\u{C}"
        case UInt8(ascii: "n"): scalar = "\n"
        case UInt8(ascii: "r"): scalar = "\r"
        case UInt8(ascii: "t"): scalar = "\t"
        case UInt8(ascii: "u"): return try readUnicodeEscape(from: start)
        default: throw unexpectedCharacter(.escape)
        }
        offset += 1
        return scalar
    }

    /// Reads `u` and its digits, and the second escape of a surrogate pair.
    private mutating func readUnicodeEscape(
        from start: Int
    ) throws(SyntaxError) -> Unicode.Scalar {
        let high = try readHexDigits()
        if let scalar = Unicode.Scalar(high) { return scalar }
        guard UTF16.isLeadSurrogate(high), skip(.backslash), next == UInt8(ascii: "u") else {
            throw failure(.loneSurrogate(high), at: start)
        }
        let low = try readHexDigits()
        guard UTF16.isTrailSurrogate(low) else { throw failure(.loneSurrogate(high), at: start) }
        return UTF16.decode(UTF16.EncodedScalar([high, low]))
    }

    /// Reads the `u` of an escape and the four digits after it: a UTF-16 code unit.
    private mutating func readHexDigits() throws(SyntaxError) -> UInt16 {
        offset += 1
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = next?.hexDigitValue else { throw unexpectedCharacter(.hexDigits) }
            unit = unit << 4 | digit
            offset += 1
        }
        return unit
    }
}

extension UInt8 {
    fileprivate var hexDigitValue: UInt16? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt16(self - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt16(self - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt16(self - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}
