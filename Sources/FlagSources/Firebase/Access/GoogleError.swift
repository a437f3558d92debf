import CivilTime
import Decision
import HTTP
import JSON

/// The errors in answers of Google's services.
enum GoogleError {
    /// How much of a refusal's body is read, in bytes.
    static let limit = 16 << 10

    /// The sentence of `{"error": {"code", "message", "status"}}`, or of OAuth's `{"error":
    /// "invalid_grant", "error_description"}` (RFC 6749 §5.2); nil without a sentence.
    static func message(in body: [UInt8]) -> String? {
        guard case .success(let flags) = Result(catching: { try FlagDocument.parse(body) }) else {
            return nil
        }
        return message(in: flags)
    }

    /// The sentence in a parsed body; nil without a sentence.
    static func message(in object: JSON.Object) -> String? {
        switch object["error"] {
        case .object(let error):
            let words = [error["status"]?.string, error["message"]?.string].compactMap(\.self)
            return words.isEmpty ? "an error without a message" : shown(words)
        case .string(let word):
            return shown([word, object["error_description"]?.string].compactMap(\.self))
        case nil, .null, .bool, .number, .array: return nil
        }
    }

    /// Foreign text for a message: on one line, and long enough for the sentence that says which service
    /// has to be enabled, and where.
    private static func shown(_ words: [String]) -> String {
        words.joined(separator: ": ").printable(limit: 500, replacing: " ")
    }
}

extension HTTPResponse {
    /// The failure of an answer of a Google service that brings neither flags nor a token.
    func googleRefusal(of operation: String, now: Instant) -> Failure {
        refusal(of: operation, because: GoogleError.message(in: body), now: now)
    }
}

extension HTTPRequest {
    /// A request to a service of Google. It goes by plain http only to this machine, or to its metadata
    /// server, and then past every proxy.
    static func google(
        _ url: String, headers: [Header], body: [UInt8]? = nil, maxBody: Int = 64 << 10
    ) -> HTTPRequest {
        HTTPRequest(
            url: url, headers: headers, body: body, maxBody: maxBody,
            keptOfRefusal: GoogleError.limit, isDirect: WebAddress(url)?.scheme == "http")
    }
}
