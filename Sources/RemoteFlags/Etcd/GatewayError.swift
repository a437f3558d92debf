import Decision
import JSON
import Transfer

/// Why the gateway did not do what it was asked.
package enum GatewayError: Error, Hashable {
    /// It wants a token, or another one than ours.
    case loginNeeded(String)
    /// It knows no users. A token of the time when it did is as bad as a wrong one.
    case loginNotWanted
    /// It knows who we are, and we may not.
    case refused(String)
    /// It cannot now; another member may.
    case unavailable(String, retryAfter: Duration? = nil)
    /// What it says is not what etcd says.
    case invalid(String)

    /// The failure of a fetch that was to do this at that place.
    func failure(of deed: String) -> Failure {
        switch self {
        case .loginNotWanted: Failure(.unreachable, "\(deed): authentication is not enabled")
        case .loginNeeded(let cause), .refused(let cause): Failure(.refused, "\(deed): \(cause)")
        case .unavailable(let cause, let wait):
            Failure(.unreachable, "\(deed): \(cause)", retryAfter: wait)
        case .invalid(let cause): Failure(.invalid, "\(deed): \(cause)")
        }
    }
}

extension HTTPResponse {
    /// The object that the gateway answers.
    func gatewayObject(retryAfter wait: Duration?) throws(GatewayError) -> JSON.Object {
        guard status == 200 else { throw gatewayError(retryAfter: wait) }
        do {
            return try FlagDocument.parse(body)
        } catch {
            throw .invalid(error.detail)
        }
    }

    /// Errors of etcd are gRPC's, told as HTTP (google.rpc.Code), with a sentence of its own. That a
    /// token is missing, or older than the newest change of users, is told as a bad request.
    private func gatewayError(retryAfter wait: Duration?) -> GatewayError {
        let said = gatewaySentence
        let text = "the server answers \(statusText)\(said.map { ": \($0)" } ?? "")"
        switch (status, said) {
        case (401, _), (400, "etcdserver: user name is empty"),
            (400, "etcdserver: revision of auth store is old"):
            return .loginNeeded(text)
        case (_, "etcdserver: authentication is not enabled"):
            return .loginNotWanted
        case (403, _), (400, "etcdserver: authentication failed, invalid user ID or password"):
            return .refused(text)
        default:
            return .unavailable(text, retryAfter: wait)
        }
    }

    /// What the gateway says of an error, where that is a short line of plain text.
    private var gatewaySentence: String? {
        guard case .success(let object) = Result(catching: { try FlagDocument.parse(body) }),
            let text = object["error"]?.string, text.utf8.count <= 200,
            text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return nil }
        return text
    }
}
