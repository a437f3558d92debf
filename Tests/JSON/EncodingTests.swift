import JSON
import Testing

/// RFC 8259 §8.1: JSON is UTF-8, without a byte order mark.
struct EncodingTests {
    @Test(arguments: refused) func anotherEncodingIsRefusedAtItsFirstByte(document: Refused) {
        expect(document)
    }

    /// Against table 3-7 of the Unicode standard: each first byte, followed by the bytes at the bounds of the table.
    @Test func exactlyTheWellFormedSequencesOfUnicodeAreRead() throws {
        let edges: [UInt8] = [0x20, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF]
        for first in UInt8(0x80)...0xFF {
            for second in edges {
                for third in edges {
                    for fourth in [0x20, 0x80, 0xBF, 0xC0] as [UInt8] {
                        try expectSameVerdict([first, second, third, fourth])
                    }
                }
            }
        }
    }

    private func expectSameVerdict(_ sequence: [UInt8]) throws {
        let document = Array("\"".utf8) + sequence + Array("\"".utf8)
        let error = refusal(of: document)
        guard let valid = lengthOfWellFormedPrefix(sequence) else {
            try #require(error == nil, "\(sequence)")
            return
        }
        let offset = try #require(error?.offset, "\(sequence)")
        try #require(offset == valid + 1, "\(sequence)")
    }

    /// The number of bytes before the first malformed character; nil if all are well-formed.
    private func lengthOfWellFormedPrefix(_ bytes: [UInt8]) -> Int? {
        var start = 0
        while start < bytes.count {
            let rest = Array(bytes[start...])
            guard
                let row = Self.wellFormed.first(where: { row in
                    rest.count >= row.count && zip(row, rest).allSatisfy { $0.contains($1) }
                })
            else { return start }
            start += row.count
        }
        return nil
    }

    private static let wellFormed: [[ClosedRange<UInt8>]] = {
        let tail: ClosedRange<UInt8> = 0x80...0xBF
        return [
            [0x00...0x7F],
            [0xC2...0xDF, tail],
            [0xE0...0xE0, 0xA0...0xBF, tail],
            [0xE1...0xEC, tail, tail],
            [0xED...0xED, 0x80...0x9F, tail],
            [0xEE...0xEF, tail, tail],
            [0xF0...0xF0, 0x90...0xBF, tail, tail],
            [0xF1...0xF3, tail, tail, tail],
            [0xF4...0xF4, 0x80...0x8F, tail, tail],
        ]
    }()

    private static let (utf16, utf32) = ("this looks like UTF-16", "this looks like UTF-32")
    private static let noFirst = "a byte that begins no character"
    private static let overlong = "a character in more bytes than it needs"
    private static let cutShort = "a character cut short"

    static let refused: [Refused] = [
        Refused(
            "§8.1 a byte order mark", [0xEF, 0xBB, 0xBF] + Array("{}".utf8), at: 0,
            "byte order mark at line 1, column 1: JSON begins without one"),
        Refused(
            "§8.1 a byte order mark alone", [0xEF, 0xBB, 0xBF], at: 0,
            "byte order mark at line 1, column 1: JSON begins without one"),
        .notUTF8("§8.1 half a byte order mark", [0xEF, 0xBB], cutShort),
        .notUTF8("§8.1 UTF-16, big end first", [0, 0x7B, 0, 0x7D], utf16),
        .notUTF8("§8.1 UTF-16, little end first", [0x7B, 0, 0x7D, 0], utf16),
        .notUTF8(
            "§8.1 UTF-16 with a wide second character", [0x22, 0, 0x42, 0x30, 0x22, 0], utf16),
        .notUTF8("§8.1 UTF-16 of one character", [0x30, 0], utf16),
        .notUTF8("§8.1 UTF-16 with a mark, big end first", [0xFE, 0xFF, 0, 0x7B, 0, 0x7D], utf16),
        .notUTF8(
            "§8.1 UTF-16 with a mark, little end first", [0xFF, 0xFE, 0x7B, 0, 0x7D, 0], utf16),
        .notUTF8("§8.1 UTF-32, big end first", [0, 0, 0, 0x30], utf32),
        .notUTF8("§8.1 UTF-32, little end first", [0x30, 0, 0, 0], utf32),
        .notUTF8(
            "§8.1 UTF-32 with a mark, big end first", [0, 0, 0xFE, 0xFF, 0, 0, 0, 0x30], utf32),
        .notUTF8(
            "§8.1 UTF-32 with a mark, little end first", [0xFF, 0xFE, 0, 0, 0x30, 0, 0, 0], utf32),
        .notUTF8(
            "RFC 1952 gzip", [0x1F, 0x8B, 8, 0, 0, 0, 0, 0],
            "this looks like gzip, and no 'Content-Encoding' names it"),
        .notUTF8("§8.1 Latin-1", [0x22, 0x63, 0x61, 0x66, 0xE9, 0x22], at: 4, cutShort),
        .notUTF8(
            "§8.1 a continuation alone", [0x5B, 0x0A, 0x22, 0x80, 0x22, 0x5D], at: 3,
            "a continuation byte without a first one"),
        .notUTF8("§8.1 an overlong slash", [0x22, 0xC0, 0xAF, 0x22], at: 1, overlong),
        .notUTF8(
            "§8.1 an overlong NUL in three bytes", [0x22, 0xE0, 0x80, 0x80, 0x22], at: 1, overlong),
        .notUTF8(
            "§8.1 an overlong euro sign in four bytes", [0x22, 0xF0, 0x82, 0x82, 0xAC, 0x22], at: 1,
            overlong),
        .notUTF8(
            "§8.1 an encoded surrogate", [0x22, 0xED, 0xA0, 0x80, 0x22], at: 1,
            "an encoded surrogate"),
        .notUTF8(
            "§8.1 a pair of encoded surrogates", [0x22, 0xED, 0xA0, 0xB4, 0xED, 0xB4, 0x9E, 0x22],
            at: 1, "an encoded surrogate"),
        .notUTF8("§8.1 above U+10FFFF", [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], at: 1, noFirst),
        .notUTF8("§8.1 five bytes", [0x22, 0xF8, 0x88, 0x80, 0x80, 0x80, 0x22], at: 1, noFirst),
        .notUTF8("§8.1 a byte that UTF-8 never uses", [0x22, 0xFF, 0x22], at: 1, noFirst),
        .notUTF8(
            "§8.1 a character that the end cuts short", [0x22, 0xF0, 0x9D, 0x84], at: 1, cutShort),
        .notUTF8("§8.1 a broken key", [0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D], at: 2, noFirst),
        .notUTF8(
            "§8.1 a broken byte outside of strings", [0x5B, 0x31, 0x2C, 0xFF, 0x5D], at: 3, noFirst),
        .notUTF8(
            "§8.1 a broken byte behind another error", [0x5B, 0x2C, 0x5D, 0xFF], at: 3, noFirst),
    ]
}
