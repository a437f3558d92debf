import Decision
import JSON
import Signing
import Transfer

/// A request to etcd's JSON gateway, version 3: a POST of one object, in which keys are base64 and numbers
/// of 64 bits are strings.
enum GatewayRequest: Hashable {
    /// All keys with the prefix, as the cluster has agreed on them.
    case range(prefix: String)
    /// All changes of the keys with the prefix, from that revision on.
    case watch(prefix: String, from: Int64)
    /// A token for this user.
    case authenticate(user: String, password: String)

    /// The path of the method.
    var path: String {
        switch self {
        case .range: "/v3/kv/range"
        case .watch: "/v3/watch"
        case .authenticate: "/v3/auth/authenticate"
        }
    }

    /// The operation, as the beginning of a failure's sentence: the endpoint comes next.
    var operation: String {
        switch self {
        case .range: "read the keys at"
        case .watch: "watch the keys at"
        case .authenticate(let user, _): "log in as '\(user)' at"
        }
    }

    /// The object that is posted.
    var body: [UInt8] { object.bytes }

    /// Headers of the method. Without `hasleader`, a watch stays open and silent when its member has
    /// lost the cluster.
    var headers: [Header] {
        switch self {
        case .watch: [Header("Grpc-Metadata-hasleader", "true")]
        case .range, .authenticate: []
        }
    }

    private var object: JSON.Object {
        switch self {
        case .range(let prefix): return Self.keys(prefix)
        case .watch(let prefix, let revision):
            var create = Self.keys(prefix)
            create["start_revision"] = .string(String(revision))
            create["progress_notify"] = .bool(true)
            return ["create_request": .object(create)]
        case .authenticate(let user, let password):
            return ["name": .string(user), "password": .string(password)]
        }
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
    func gatewayObject(retryAfter wait: Duration?) throws(GatewayError) -> JSON.Object {
        guard status == 200 else { throw gatewayError(retryAfter: wait) }
        do {
            return try FlagDocument.parse(body)
        } catch {
            throw .invalid(error.detail)
        }
    }

    /// etcd maps the errors of gRPC (google.rpc.Code) to HTTP statuses and adds a sentence. A token
    /// that is missing, or older than the newest change of users, is a bad request.
    private func gatewayError(retryAfter wait: Duration?) -> GatewayError {
        let said = gatewaySentence
        let text = "the server answers \(statusText)\(said.map { ": \($0)" } ?? "")"
        switch (status, said) {
        case (401, _), (400, "etcdserver: user name is empty"),
            (400, "etcdserver: revision of auth store is old"):
            return .loginNeeded(text)
        case (_, "etcdserver: authentication is not enabled"): return .loginNotWanted
        case (403, _), (400, "etcdserver: authentication failed, invalid user ID or password"):
            return .refused(text)
        default: return .unavailable(text, retryAfter: wait)
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
