package import CivilTime
package import Decision
package import Files
package import HTTP
package import JSON
import Signing
package import SourceSettings

/// A request to etcd's JSON gateway, version 3: a POST of one object. Keys are base64, 64-bit numbers strings.
package struct GatewayRequest {
    package let path: String
    /// The operation, as the beginning of a failure's sentence: the endpoint comes next.
    package let operation: String
    package private(set) var object: JSON.Object
    package var headers: [Header] = []
    /// Whether its answer is a token.
    package var isLogin = false

    /// These keys, as the cluster has agreed on them.
    package static func range(_ keys: GatewayKeys) -> GatewayRequest {
        GatewayRequest(path: "/v3/kv/range", operation: "read the keys at", object: keys.members)
    }

    /// The next keys with a prefix, in their order: those after `last`, at most `count`.
    package static func page(
        of prefix: String, after last: [UInt8]?, atMost count: Int
    ) -> GatewayRequest {
        var question = range(.prefix(prefix))
        // The smallest key after another has a NUL byte more.
        if let last { question.object["key"] = .string(Base64.text(of: last + [0])) }
        question.object["limit"] = .string(String(count))
        return question
    }

    /// All changes of these keys, from that revision on. Without `hasleader`, a watch
    /// stays open and silent when its member has lost the cluster.
    package static func watch(_ keys: GatewayKeys, from revision: Int64) -> GatewayRequest {
        var create = keys.members
        create["start_revision"] = .string(String(revision))
        create["progress_notify"] = .bool(true)
        return GatewayRequest(
            path: "/v3/watch", operation: "watch the keys at",
            object: ["create_request": .object(create)],
            headers: [Header("Grpc-Metadata-hasleader", "true")])
    }

    /// A token for this user.
    package static func authenticate(user: String, password: String) -> GatewayRequest {
        GatewayRequest(
            path: "/v3/auth/authenticate", operation: "log in as '\(user)' at",
            object: ["name": .string(user), "password": .string(password)], isLogin: true)
    }

    /// Sets a key, without a lease.
    package static func put(_ value: [UInt8], at key: String) -> GatewayRequest {
        GatewayRequest(
            path: "/v3/kv/put", operation: "put a key at",
            object: [
                "key": .string(Base64.text(of: key.utf8)), "value": .string(Base64.text(of: value)),
            ])
    }
}

/// Which keys are read or watched.
package enum GatewayKeys {
    case prefix(String)
    case one(String)

    /// The members of a request. The range of a prefix goes from the prefix itself to before the next text of the same
    /// length. For all keys both ends are a NUL byte.
    fileprivate var members: JSON.Object {
        switch self {
        case .one(let key): return ["key": .string(Base64.text(of: key.utf8))]
        case .prefix(let prefix):
            let key = prefix.isEmpty ? [0] : Array(prefix.utf8)
            return [
                "key": .string(Base64.text(of: key)),
                "range_end": .string(Base64.text(of: Self.end(of: Array(prefix.utf8)))),
            ]
        }
    }

    private static func end(of prefix: [UInt8]) -> [UInt8] {
        var end = prefix
        while let last = end.popLast() {
            if last < .max { return end + [last + 1] }
        }
        return [0]
    }
}

extension EtcdSettings {
    /// The request of a question to a member.
    package func request(
        _ question: GatewayRequest, to member: Int, with token: String?,
        in environment: HostEnvironment
    ) throws(CredentialError) -> HTTPRequest {
        var request = try server.request(in: environment)
        request.url = endpoints[member] + question.path
        request.body = JSON.Value.object(question.object).serializedBytes()
        request.keptOfRefusal = 1024
        request.headers.append(Header("Content-Type", "application/json"))
        request.headers += question.headers
        if let token { request.headers.append(Header("Authorization", token)) }
        return request
    }
}

extension JSON.Object {
    /// The token in the answer to a login.
    package func gatewayToken() throws(GatewayError) -> String {
        guard let token = self["token"]?.string, token.isVisibleASCII, token.utf8.count <= 8192
        else { throw .invalid("the answer holds no token") }
        return token
    }
}

/// A page of keys, as the gateway answers.
package struct GatewayPage {
    package let pairs: [(key: [UInt8], value: [UInt8])]
    package let hasMore: Bool

    /// Reads an answer. Keys come in their order, each once, and after `last`: else a server could answer for ever.
    package init(
        _ object: JSON.Object, after last: [UInt8]?, _ prefix: String
    ) throws(GatewayError) {
        guard object["header"]?.object != nil else {
            throw .invalid("the answer has no header as etcd writes it")
        }
        var last = last ?? []
        var pairs: [(key: [UInt8], value: [UInt8])] = []
        for element in object["kvs"]?.array ?? [] {
            guard let key = element.object?["key"]?.string.flatMap(Base64.bytes),
                let value = Base64.bytes(of: element.object?["value"]?.string ?? ""),
                key.starts(with: prefix.utf8), last.lexicographicallyPrecedes(key)
            else { throw .invalid("the answer holds a key that is not as etcd writes it") }
            pairs.append((key, value))
            last = key
        }
        self.pairs = pairs
        hasMore = object["more"]?.bool == true
        guard !hasMore || !pairs.isEmpty else {
            throw .invalid("the answer tells of more keys, and holds none")
        }
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
    package func failure(of operation: String) -> Failure {
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
    package func gatewayObject(now: Instant) throws(GatewayError) -> JSON.Object {
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
