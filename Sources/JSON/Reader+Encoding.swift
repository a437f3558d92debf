extension Reader {
    /// Refuses bytes that are not UTF-8 (RFC 8259 §8.1), so that nothing after it meets such bytes.
    func checkEncoding() throws(SyntaxError) {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { throw failure(.byteOrderMark, at: 0) }
        if let encoding = wideEncoding { throw failure(.notUTF8(encoding), at: 0) }
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            let encoding = SyntaxError.Encoding(error.kind)
            throw failure(.notUTF8(encoding), at: error.byteOffsets.lowerBound)
        }
    }

    /// The encoding that a byte order mark gives away, or else the zero bytes around the first
    /// character, which is always ASCII (RFC 4627 §3); nil where it may be UTF-8.
    private var wideEncoding: SyntaxError.Encoding? {
        let byte = { (index: Int) in index < bytes.count ? bytes[index] : nil }
        return switch (byte(0), byte(1), byte(2), byte(3)) {
        case (0, 0, 0xFE, 0xFF), (0xFF, 0xFE, 0, 0), (0, 0, 0, _?), (_?, 0, 0, 0): .utf32
        case (0xFE, 0xFF, _, _), (0xFF, 0xFE, _, _), (0, _?, _, _), (_?, 0, _, _): .utf16
        default: nil
        }
    }
}

extension SyntaxError.Encoding {
    fileprivate init(_ kind: UTF8.ValidationError.Kind) {
        self =
            switch kind {
            case .unexpectedContinuationByte: .continuation
            case .overlongEncodingByte: .overlong
            case .surrogateCodePointByte: .surrogate
            case .truncatedScalar: .truncated
            default: .invalid
            }
    }
}
