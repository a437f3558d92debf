extension Parser {
    /// Reads a string from its first quote (RFC 8259 §7).
    mutating func readString() throws(SyntaxError) -> String {
        offset += 1
        let start = offset
        skipPlain()
        let plain = bytes[start..<offset]
        guard !skip(.quote) else { return String(decoding: plain, as: UTF8.self) }
        return try readString(after: plain)
    }

    /// Reads the rest of a string that holds escapes or control characters.
    private mutating func readString(after plain: ArraySlice<UInt8>) throws(SyntaxError) -> String {
        var text = Array(plain)
        while !skip(.quote) {
            switch next {
            case nil: throw unfinishedString
            case .backslash: text.append(contentsOf: try readEscape().utf8)
            // The last line of a file that was cut off ends as every line does.
            case .lineFeed where bytes[offset...].allSatisfy(\.isWhitespace): throw unfinishedString
            case let byte? where byte.isControl: throw unexpectedCharacter(.escapedControl)
            default:
                let start = offset
                skipPlain()
                text.append(contentsOf: bytes[start..<offset])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

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
    private mutating func readUnicodeEscape(from start: Int) throws(SyntaxError) -> Unicode.Scalar {
        let high = try readHexDigits()
        if let scalar = Unicode.Scalar(high) { return scalar }
        guard UTF16.isLeadSurrogate(high), skip(.backslash), next == UInt8(ascii: "u") else {
            throw loneSurrogate(high, at: start)
        }
        let low = try readHexDigits()
        guard UTF16.isTrailSurrogate(low) else { throw loneSurrogate(high, at: start) }
        return UTF16.decode(UTF16.EncodedScalar([high, low]))
    }

    /// The error that half of an escaped surrogate pair stands for no character (RFC 8259 §8.2).
    private func loneSurrogate(_ unit: UInt16, at start: Int) -> SyntaxError {
        failure(at: start) {
            "lone surrogate '\\u\(unit.hexadecimal)' \($1): expected a pair, high before low"
        }
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

    private mutating func readDigits() throws(SyntaxError) {
        guard let digit = next, digit.isDigit else { throw unexpected(.digit) }
        while let digit = next, digit.isDigit { offset += 1 }
    }

    /// Throws unless the document is UTF-8 without a byte order mark (RFC 8259 §8.1), as all other functions need it.
    func checkEncoding() throws(SyntaxError) {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            throw failure(at: 0) { "byte order mark \($1): JSON begins without one" }
        }
        if let wideEncoding { throw notUTF8("this looks like \(wideEncoding)", at: 0) }
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            // RFC 1952 §2.3.1. The second byte begins no character.
            if bytes.starts(with: [0x1F, 0x8B]) {
                throw notUTF8("this looks like gzip, and no 'Content-Encoding' names it", at: 0)
            }
            let problem =
                switch error.kind {
                case .unexpectedContinuationByte: "a continuation byte without a first one"
                case .overlongEncodingByte: "a character in more bytes than it needs"
                case .surrogateCodePointByte: "an encoded surrogate"
                case .truncatedScalar: "a character cut short"
                default: "a byte that begins no character"
                }
            throw notUTF8(problem, at: error.byteOffsets.lowerBound)
        }
    }

    private func notUTF8(_ problem: String, at offset: Int) -> SyntaxError {
        failure(at: offset) { "not UTF-8 \($1): \(problem)" }
    }

    /// The encoding by the byte order mark, or by zero bytes around an ASCII character (RFC 4627 §3); nil for UTF-8.
    private var wideEncoding: String? {
        let byte = { (index: Int) in index < bytes.count ? bytes[index] : nil }
        return switch (byte(0), byte(1), byte(2), byte(3)) {
        case (0, 0, 0xFE, 0xFF), (0xFF, 0xFE, 0, 0), (0, 0, 0, _?), (_?, 0, 0, 0): "UTF-32"
        case (0xFE, 0xFF, _, _), (0xFF, 0xFE, _, _), (0, _?, _, _), (_?, 0, _, _): "UTF-16"
        default: nil
        }
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
