import Configuration
import Testing

@Test(
    arguments: [
        ("0s", 0), ("0d", 0), ("1ms", 1), ("500ms", 500), ("30s", 30_000), ("030s", 30_000),
        ("5m", 300_000), ("24h", 86_400_000), ("7d", 604_800_000),
        ("9223372036854775807ms", .max), ("9223372036854775807d", .max),
        ("99999999999999999999999999s", .max), ("", nil), ("30", nil), ("s", nil), ("30 s", nil),
        (" 30s", nil), ("30s ", nil), ("-30s", nil), ("+30s", nil), ("1.5h", nil), ("1e3s", nil),
        ("1h30m", nil), ("30S", nil), ("30sec", nil), ("30\u{0}s", nil), ("٣٠s", nil),
        ("never", nil),
    ] as [(String, Int64?)])
func aDurationIsAWholeNumberAndAUnit(_ text: String, milliseconds: Int64?) {
    #expect(Duration(text: text) == milliseconds.map { .milliseconds($0) })
}

@Test(arguments: [
    (Duration.zero, "0s"), (.milliseconds(1), "1ms"), (.milliseconds(1_500), "1500ms"),
    (.seconds(1), "1s"), (.seconds(60), "60s"), (.seconds(90), "90s"), (.seconds(120), "2m"),
    (.seconds(3_600), "1h"), (.seconds(5_400), "90m"), (.seconds(86_400), "24h"),
    (.seconds(90_000), "25h"), (.seconds(172_800), "2d"), (.seconds(604_800), "7d"),
])
func aDurationIsWrittenInTheUnitThatPeopleUse(_ duration: Duration, text: String) {
    #expect(duration.text == text)
    #expect(Duration(text: text) == duration)
}

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
