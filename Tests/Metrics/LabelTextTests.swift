import Metrics
import Testing

/// Text from outside as the value of a label.
@Suite struct LabelTextTests {
    @Test(arguments: [
        ("42", "42"), ("", ""), (#"a"b\c"#, #"a\"b\\c"#), ("a\nb", "a b"),
        ("a\u{202E}b\u{0}c", "a\u{FFFD}b\u{FFFD}c"), ("Füße", "Füße"),
        (String(repeating: "a", count: 64), String(repeating: "a", count: 64)),
    ])
    func aVersionIsPrintableAndEscaped(_ version: String, _ label: String) {
        #expect(LabelText.escaped(LabelText.shortened(version)) == label)
    }

    @Test func aLongVersionIsShortAndDiffersFromOthersWithTheSameBeginning() {
        let start = String(repeating: "x", count: 100_000)
        let (one, other) = (LabelText.shortened(start + "1"), LabelText.shortened(start + "2"))
        #expect(one.count <= 64 && one.hasPrefix("xxxx"))
        #expect(one != other)
        #expect(LabelText.shortened(start + "1") == one)
    }
}
