import CivilTime
import Decision
import JSON
import Transfer

/// What services of Google say in the body of a refusal.
enum GoogleError {
    /// The most that is read of it.
    static let limit = 16 << 10

    /// The sentence of `{"error": {"code", "message", "status"}}`, or of OAuth's `{"error":
    /// "invalid_grant", "error_description"}` (RFC 6749 §5.2); nil where there is none.
    static func message(in body: [UInt8]) -> String? {
        guard case .success(let flags) = Result(catching: { try FlagDocument.parse(body) }) else {
            return nil
        }
        return message(in: flags)
    }

    static func message(in object: JSON.Object) -> String? {
        switch object["error"] {
        case .object(let error):
            let words = [error["status"]?.string, error["message"]?.string].compactMap(\.self)
            return words.isEmpty ? "an error without a message" : shown(words)
        case .string(let word):
            return shown([word, object["error_description"]?.string].compactMap(\.self))
        case nil, .null, .bool, .number, .array:
            return nil
        }
    }

    /// Foreign text for a message: on one line, and not longer than one that says which service is to
    /// be enabled where.
    private static func shown(_ words: [String]) -> String {
        words.joined(separator: ": ").printable(limit: 500, replacing: " ")
    }
}

extension HTTPResponse {
    /// Why an answer with a status of its own brings nothing. `deed` says what was tried.
    func refusal(to deed: String, now: Instant) -> Failure {
        let kind: Failure.Kind = [401, 403].contains(status) ? .refused : .unreachable
        let message = GoogleError.message(in: body).map { ": \($0)" } ?? ""
        return Failure(
            kind, "\(deed): the server answers \(statusText)\(message)",
            retryAfter: retryAfter(now: now))
    }
}
