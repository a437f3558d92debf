import CivilTime
import Decision
import HTTP
import JSON
import Requests

extension JSON.Object {
    /// The sentence of an error of a Google service, `{"error": {"code", "message", "status"}}`, or of OAuth's
    /// `{"error": "invalid_grant", "error_description"}` (RFC 6749 §5.2); nil without a sentence.
    var googleError: String? {
        let words: [String?]
        switch self["error"] {
        case .object(let error): words = [error["status"]?.string, error["message"]?.string]
        case .string(let word): words = [word, self["error_description"]?.string]
        case nil, .null, .bool, .number, .array: return nil
        }
        let known = words.compactMap(\.self)
        if known.isEmpty { return "an error without a message" }
        // On one line, and long enough for the sentence that says which service has to be enabled, and where.
        return known.joined(separator: ": ").printable(limit: 500, replacing: " ")
    }
}

extension HTTPResponse {
    /// The sentence of an error in the body; nil without a sentence.
    var googleError: String? {
        guard case .success(let members) = Result(catching: { try FlagDocument.parse(body) }) else {
            return nil
        }
        return members.googleError
    }

    /// The failure of an answer of a Google service that brings neither flags nor a token.
    func googleRefusal(of operation: String, now: Instant) -> Failure {
        refusal(of: operation, because: googleError, now: now)
    }
}

extension HTTPRequest {
    /// A request to a service of Google. It goes by plain http only to this machine, or to its metadata
    /// server, and then past every proxy. Of a refusal's body 16 KiB are read.
    static func google(
        _ url: String, headers: [Header], body: [UInt8]? = nil, maxBody: Int = 64 << 10
    ) -> HTTPRequest {
        HTTPRequest(
            url: url, headers: headers, body: body, maxBody: maxBody, keptOfRefusal: 16 << 10,
            isDirect: WebAddress(url)?.scheme == "http")
    }
}
