package import CivilTime
package import Decision
package import HTTP

/// The parts of a server's answer that a source of flags uses.
extension HTTPResponse {
    /// When the answer left the last server or cache, by the origin's clock: a cache on the way keeps
    /// the `Date` and adds to the `Age`, in seconds (RFC 9111 §5.1). Nil without a readable `Date`.
    package func date(now: Instant) -> Instant? {
        guard let date = time(headers["date"], now) else { return nil }
        return date + (age ?? .zero)
    }

    /// The time that the answer has been in caches on the way; nil without a readable `Age`. Of several values the
    /// first counts (RFC 9111 §5.1).
    package var age: Duration? {
        // Most answers have none: no list is made for them.
        guard headers["age"] != nil else { return nil }
        let first = headers.members(of: "age")?.first
        return first?.utf8.decimalNumber.map { .seconds(min($0, 86_400 * 366)) }
    }

    private func time(_ text: String?, _ now: Instant) -> Instant? {
        guard let text,
            case .success(let time) = Result(catching: { try Instant(httpDate: text, now: now) })
        else { return nil }
        return time
    }

    /// The failure of an answer whose status brings no flags; `cause` is the server's own sentence.
    package func refusal(of operation: String, because cause: String? = nil, now: Instant)
        -> Failure
    {
        Failure(
            [401, 403, 407].contains(status) ? .refused : .unreachable,
            "\(operation): the \(status == 407 ? "proxy" : "server") answers \(statusText)\(cause.map { ": \($0)" } ?? "")",
            retryAfter: retryAfter(now: now))
    }

    /// The validators that make the next request conditional.
    package func validators(now: Instant) -> Validators {
        Validators(etag: etag, lastModified: lastModified(now: now))
    }

    package var etag: String? { validator("etag") }

    /// `Last-Modified`, if it is two seconds older than the `Date` of the same answer (RFC 9110 §8.8.2.2): a
    /// document that changed in the last second may change again under the same time.
    private func lastModified(now: Instant) -> String? {
        guard let text = validator("last-modified"), let changed = time(text, now),
            let date = time(headers["date"], now), date - changed >= .seconds(2)
        else { return nil }
        return text
    }

    /// Nil for a validator of unreasonable length, so that the next request is not conditional.
    private func validator(_ name: String) -> String? {
        guard let value = headers[name], !value.isEmpty, value.utf8.count <= 1024 else {
            return nil
        }
        return value
    }

    /// How long the server asks to be left alone; nil if it does not ask.
    package func retryAfter(now: Instant) -> Duration? {
        headers["retry-after"].flatMap { RetryAfter.wait($0, now: date(now: now) ?? now) }
    }

    /// The status with its meaning, for the end of a sentence.
    package var statusText: String {
        if status == 304 { return "304 (not modified) to a request without condition" }
        return Self.meanings[status].map { "\(status) (\($0))" } ?? "\(status)"
    }

    private static let meanings = [
        204: "no content", 401: "unauthorized", 403: "forbidden", 404: "not found",
        407: "authentication required", 410: "gone", 429: "too many requests",
        500: "internal error", 502: "bad gateway", 503: "unavailable", 504: "gateway time-out",
    ]
}

/// The field Retry-After: seconds, an HTTP date (RFC 9110 §10.2.3), or a time by RFC 3339 as in OFREP.
package enum RetryAfter {
    /// How long to wait, never negative; nil for a text in none of the three forms. `now` is the server's time
    /// if that is known: on a host with a wrong clock only the difference counts.
    package static func wait(_ text: String, now: Instant) -> Duration? {
        // A negative number is against the grammar, and means the same as a time in the past.
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        if let seconds = text.utf8.dropFirst(isNegative ? 1 : 0).decimalNumber {
            return isNegative ? .zero : .seconds(min(seconds, 86_400 * 366))
        }
        for read in [{ try Instant(httpDate: text, now: now) }, { try Instant(rfc3339: text) }] {
            if case .success(let date) = Result(catching: read) { return max(.zero, date - now) }
        }
        return nil
    }
}

extension Collection<UInt8> {
    /// The number that these bytes write in decimal digits alone; the highest if it does not fit.
    package var decimalNumber: Int64? {
        guard !isEmpty, allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(String(decoding: self, as: UTF8.self)) ?? .max
    }
}
