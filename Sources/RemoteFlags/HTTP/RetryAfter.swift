package import CivilTime

/// Reads the field Retry-After: a number of seconds or an HTTP date (RFC 9110 §10.2.3), or a time by
/// RFC 3339, which OFREP uses.
package enum RetryAfter {
    /// How long to wait from now on: never negative, nil for what is none of the three.
    ///
    /// `now` is the time by the clock of whoever wrote it, where that is known: on a host with a wrong
    /// clock only the distance counts.
    package static func wait(_ text: String, now: Instant) -> Duration? {
        if let seconds = seconds(text) { return seconds }
        guard let date = date(text, now: now) else { return nil }
        return max(.zero, date - now)
    }

    /// A minus is against the grammar, and means what a time in the past means.
    private static func seconds(_ text: String) -> Duration? {
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        let digits = isNegative ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty,
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        if isNegative { return .zero }
        // Whatever does not fit is more than anybody waits.
        return .seconds(min(Int64(Substring(digits)) ?? .max, 86_400 * 366))
    }

    private static func date(_ text: String, now: Instant) -> Instant? {
        if case .success(let date) = Result(catching: { try Instant(httpDate: text, now: now) }) {
            return date
        }
        if case .success(let date) = Result(catching: { try Instant(rfc3339: text) }) {
            return date
        }
        return nil
    }
}
