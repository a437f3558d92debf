import Configuration
import Testing

struct DurationText: Sendable, CustomTestStringConvertible {
    let text: String
    let milliseconds: Int64?
    var testDescription: String { text }
}

@Test(arguments: [
    DurationText(text: "0s", milliseconds: 0),
    DurationText(text: "0d", milliseconds: 0),
    DurationText(text: "1ms", milliseconds: 1),
    DurationText(text: "500ms", milliseconds: 500),
    DurationText(text: "30s", milliseconds: 30_000),
    DurationText(text: "030s", milliseconds: 30_000),
    DurationText(text: "5m", milliseconds: 300_000),
    DurationText(text: "24h", milliseconds: 86_400_000),
    DurationText(text: "7d", milliseconds: 604_800_000),
    DurationText(text: "9223372036854775807ms", milliseconds: .max),
    DurationText(text: "9223372036854775807d", milliseconds: .max),
    DurationText(text: "99999999999999999999999999s", milliseconds: .max),
    DurationText(text: "", milliseconds: nil),
    DurationText(text: "30", milliseconds: nil),
    DurationText(text: "s", milliseconds: nil),
    DurationText(text: "30 s", milliseconds: nil),
    DurationText(text: " 30s", milliseconds: nil),
    DurationText(text: "30s ", milliseconds: nil),
    DurationText(text: "-30s", milliseconds: nil),
    DurationText(text: "+30s", milliseconds: nil),
    DurationText(text: "1.5h", milliseconds: nil),
    DurationText(text: "1e3s", milliseconds: nil),
    DurationText(text: "1h30m", milliseconds: nil),
    DurationText(text: "30S", milliseconds: nil),
    DurationText(text: "30sec", milliseconds: nil),
    DurationText(text: "30\u{0}s", milliseconds: nil),
    DurationText(text: "٣٠s", milliseconds: nil),
    DurationText(text: "never", milliseconds: nil),
])
func aDurationIsAWholeNumberAndAUnit(_ duration: DurationText) {
    #expect(Duration(text: duration.text) == duration.milliseconds.map { .milliseconds($0) })
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
