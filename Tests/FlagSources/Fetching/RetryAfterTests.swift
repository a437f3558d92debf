import CivilTime
import FlagSources
import Testing

/// The three forms of Retry-After, and malformed values.
@Suite struct RetryAfterTests {
    struct Form: CustomTestStringConvertible, Sendable {
        let text: String
        let wait: Duration?
        var testDescription: String { text }

        init(_ text: String, _ wait: Duration?) {
            self.text = text
            self.wait = wait
        }
    }

    /// Sun, 06 Nov 1994 08:49:37 GMT, the time in the examples of RFC 9110.
    private static let now = Instant(seconds: 784_111_777)

    @Test(arguments: [
        Form("0", .zero),
        Form("120", .seconds(120)),
        Form("007", .seconds(7)),
        Form("99999999999999999999999", .seconds(86_400 * 366)),
        Form("-5", .zero),
        Form("Sun, 06 Nov 1994 08:50:07 GMT", .seconds(30)),
        Form("Sunday, 06-Nov-94 08:50:07 GMT", .seconds(30)),
        Form("Sun Nov  6 08:50:07 1994", .seconds(30)),
        Form("Sun, 06 Nov 1994 08:49:07 GMT", .zero),
        Form("1994-11-06T08:50:07Z", .seconds(30)),
        Form("1994-11-06T09:50:07.5+01:00", .milliseconds(30_500)),
        Form("1994-11-06T08:00:00Z", .zero),
        Form("", nil),
        Form("-", nil),
        Form("1.5", nil),
        Form("soon", nil),
        Form("120 s", nil),
    ])
    func retryAfterIsReadRelativeToTheTimeOfTheAnswer(_ form: Form) {
        #expect(RetryAfter.wait(form.text, now: Self.now) == form.wait)
    }
}
