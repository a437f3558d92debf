import CivilTime
import Decision
import SourceKinds
import Transfer

/// What an answer of a server means for a source of flags.
extension HTTPResponse {
    /// The time at which the server made the answer, by its clock: a cache on the way keeps the
    /// `Date` and adds to the `Age` (RFC 9111 §5.1).
    func date(now: Instant) -> Instant? {
        guard let text = headers["date"],
            case .success(let date) = Result(catching: { try Instant(httpDate: text, now: now) })
        else { return nil }
        guard let age = headers["age"].flatMap(Int64.init), age > 0 else { return date }
        return date + .seconds(min(age, 86_400 * 366))
    }

    /// Only 200 brings flags: any other success is a part of them (206), somebody else's version of
    /// them (203) or none. Only what was asked conditionally can be unchanged.
    func outcome(of site: Site, isConditional: Bool, now: Instant) -> Outcome {
        do throws(Failure) {
            switch status {
            case 200:
                let flags = try FlagDocument.parse(body)
                return .answer(
                    Answer(body: body, flags: flags, validators: validators, fetchedAt: now))
            case 304 where isConditional:
                return .unchanged
            case 401, 403, 407:
                throw Failure(.refused, "get '\(site.shownURL)': the server answers \(statusText)")
            default:
                throw Failure(
                    .unreachable, "get '\(site.shownURL)': the server answers \(statusText)")
            }
        } catch {
            return .failure(Failure(error.kind, error.detail, retryAfter: retryAfter(now: now)))
        }
    }

    /// What makes the next request conditional.
    var validators: Validators {
        Validators(etag: validator("etag"), lastModified: validator("last-modified"))
    }

    /// One of unreasonable length is not kept, so the flags are asked for whole.
    private func validator(_ name: String) -> String? {
        guard let value = headers[name], !value.isEmpty, value.utf8.count <= 1024 else {
            return nil
        }
        return value
    }

    /// How long the server asks to be left alone.
    func retryAfter(now: Instant) -> Duration? {
        headers["retry-after"].flatMap { RetryAfter.wait($0, now: date(now: now) ?? now) }
    }

    /// The status with its meaning, as it may end a sentence.
    var statusText: String {
        switch status {
        case 204: "204 (no content)"
        case 304: "304 (not modified) to a request without condition"
        case 401: "401 (unauthorized)"
        case 403: "403 (forbidden)"
        case 404: "404 (not found)"
        case 407: "407 (the proxy wants authentication)"
        case 410: "410 (gone)"
        case 429: "429 (too many requests)"
        case 500: "500 (internal error)"
        case 502: "502 (bad gateway)"
        case 503: "503 (unavailable)"
        case 504: "504 (gateway time-out)"
        default: "\(status)"
        }
    }
}
