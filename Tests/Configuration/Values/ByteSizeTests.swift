import Configuration
import Testing

@Test(
    arguments: [
        ("0B", 0), ("1B", 1), ("1023B", 1_023), ("1KiB", 1_024), ("512KiB", 524_288),
        ("1MiB", 1_048_576), ("64MiB", 67_108_864), ("99999999999999999999MiB", Int.max),
        ("9223372036854775807KiB", Int.max), ("", nil), ("1", nil), ("KiB", nil), ("1 KiB", nil),
        ("1KB", nil), ("1kib", nil), ("1.5MiB", nil), ("-1B", nil), ("1GiB", nil), ("1B ", nil),
    ] as [(String, Int?)])
func aSizeIsAWholeNumberAndAUnit(_ text: String, bytes: Int?) {
    #expect(ByteSize.bytes(text) == bytes)
}

@Test(arguments: [
    (0, "0B"), (1, "1B"), (1_023, "1023B"), (1_024, "1KiB"), (1_536, "1536B"),
    (524_288, "512KiB"), (1_048_576, "1MiB"), (1_572_864, "1536KiB"), (67_108_864, "64MiB"),
])
func aSizeIsWrittenInTheLargestUnitThatIsExact(_ bytes: Int, text: String) {
    #expect(ByteSize.text(bytes) == text)
    #expect(ByteSize.bytes(text) == bytes)
}
