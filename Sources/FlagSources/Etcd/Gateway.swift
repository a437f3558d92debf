import CivilTime
import Decision
import HTTP
import JSON
import Signing

/// A request to etcd's JSON gateway, version 3: a POST of one object, in which keys are base64 and numbers
/// of 64 bits are strings.
struct GatewayRequest {
    /// The path of the method.
    let path: String
    /// The operation, as the beginning of a failure's sentence: the endpoint comes next.
    let operation: String
    /// The object that is posted.
    let object: JSON.Object
    var headers: [Header] = []
    /// Whether its answer is a token.
    var isLogin = false

    /// All keys with the prefix, as the cluster has agreed on them.
    static func range(prefix: String) -> GatewayRequest {
        GatewayRequest(path: "/v3/kv/range", operation: "read the keys at", object: keys(prefix))
    }

    /// All changes of the keys with the prefix, from that revision on. Without `hasleader`, a watch
    /// stays open and silent when its member has lost the cluster.
    static func watch(prefix: String, from revision: Int64) -> GatewayRequest {
        var create = keys(prefix)
        create["start_revision"] = .string(String(revision))
        create["progress_notify"] = .bool(true)
        return GatewayRequest(
            path: "/v3/watch", operation: "watch the keys at",
            object: ["create_request": .object(create)],
            headers: [Header("Grpc-Metadata-hasleader", "true")])
    }

    /// A token for this user.
    static func authenticate(user: String, password: String) -> GatewayRequest {
        GatewayRequest(
            path: "/v3/auth/authenticate", operation: "log in as '\(user)' at",
            object: ["name": .string(user), "password": .string(password)], isLogin: true)
    }

    /// The range of the keys with a prefix: from the prefix itself to before the next text of the same
    /// length. For all keys both ends are a NUL byte.
    private static func keys(_ prefix: String) -> JSON.Object {
        let key = prefix.isEmpty ? [0] : Array(prefix.utf8)
        return [
            "key": .string(Base64.text(of: key)),
            "range_end": .string(Base64.text(of: end(of: Array(prefix.utf8)))),
        ]
    }

    private static func end(of prefix: [UInt8]) -> [UInt8] {
        var end = prefix
        while let last = end.popLast() {
            if last < .max { return end + [last + 1] }
        }
        return [0]
    }
}

/// Why the gateway did not answer a request.
package enum GatewayError: Error, Hashable {
    /// The request needs a token, or a newer token.
    case loginNeeded(String)
    /// Authentication is off, so a token is an error.
    case loginNotWanted
    /// The user may not read the keys, or the password is wrong.
    case refused(String)
    /// This member cannot answer now; another member may.
    case unavailable(String, retryAfter: Duration? = nil)
    /// The answer is not in etcd's format.
    case invalid(String)

    /// The failure of a fetch whose `operation` was tried.
    func failure(of operation: String) -> Failure {
        switch self {
        case .loginNotWanted: Failure(.unreachable, "\(operation): authentication is not enabled")
        case .loginNeeded(let cause), .refused(let cause):
            Failure(.refused, "\(operation): \(cause)")
        case .unavailable(let cause, let wait):
            Failure(.unreachable, "\(operation): \(cause)", retryAfter: wait)
        case .invalid(let cause): Failure(.invalid, "\(operation): \(cause)")
        }
    }
}

extension HTTPResponse {
    /// The object in an answer of the gateway.
    func gatewayObject(now: Instant) throws(GatewayError) -> JSON.Object {
        guard status == 200 else { throw gatewayError(now: now) }
        do {
            return try FlagDocument.parse(body)
        } catch {
            throw .invalid(error.detail)
        }
    }

    /// etcd maps the errors of gRPC (google.rpc.Code) to HTTP statuses and adds a sentence. A token
    /// that is missing, or older than the newest change of users, is a bad request.
    private func gatewayError(now: Instant) -> GatewayError {
        let sentence = gatewaySentence
        let text = "the server answers \(statusText)\(sentence.map { ": \($0)" } ?? "")"
        switch (status, sentence) {
        case (401, _), (400, "etcdserver: user name is empty"),
            (400, "etcdserver: revision of auth store is old"):
            return .loginNeeded(text)
        case (_, "etcdserver: authentication is not enabled"): return .loginNotWanted
        case (403, _), (400, "etcdserver: authentication failed, invalid user ID or password"):
            return .refused(text)
        default: return .unavailable(text, retryAfter: retryAfter(now: now))
        }
    }

    /// The gateway's sentence for an error; nil unless it is a short line of ASCII.
    private var gatewaySentence: String? {
        guard case .success(let object) = Result(catching: { try FlagDocument.parse(body) }),
            let text = object["error"]?.string, text.utf8.count <= 200,
            text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return nil }
        return text
    }
}
