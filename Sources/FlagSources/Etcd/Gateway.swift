import CivilTime
import Decision
import HTTP
package import JSON
import Signing

/// A request to etcd's JSON gateway, version 3: a POST of one object. Keys are base64, 64-bit numbers strings.
struct GatewayRequest {
    let path: String
    /// The operation, as the beginning of a failure's sentence: the endpoint comes next.
    let operation: String
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

/// The flags under a prefix, all as of one revision of the cluster.
package struct Snapshot: Hashable {
    /// The id of the cluster: each counts revisions of its own.
    package let cluster: String
    /// The cluster's revision at the time of the answer. It grows with every change of any key.
    package let revision: Int64
    package let flags: JSON.Object
    /// The revision of the newest change of each flag.
    package let revisions: JSON.Object

    /// Reads the answer to a range of all keys with that prefix.
    package init(_ object: JSON.Object, prefix: String) throws(GatewayError) {
        guard let header = object["header"]?.object, let cluster = header["cluster_id"]?.string,
            let revision = header.revision("revision")
        else { throw .invalid("the answer has no header as etcd writes it") }
        if object["more"]?.bool == true { throw .invalid("the answer holds not all keys") }
        self.cluster = cluster
        self.revision = revision
        var flags = JSON.Object()
        var revisions = JSON.Object()
        for element in object["kvs"]?.array ?? [] {
            guard let member = element.object,
                let key = member["key"]?.string.flatMap(Base64.bytes),
                let value = Base64.bytes(of: member["value"]?.string ?? ""),
                let revision = member.revision("mod_revision")
            else { throw .invalid("the answer holds a key that is not as etcd writes it") }
            guard key.starts(with: prefix.utf8) else {
                throw .invalid("the answer holds a key that was not asked for")
            }
            // A key that is not UTF-8 names no flag. A value that is not UTF-8 becomes null, which no format
            // reads as an order; the flag is present, so no default takes its place.
            let name = key.dropFirst(prefix.utf8.count)
            guard let flag = String(validating: name, as: UTF8.self) else { continue }
            flags[flag] = String(validating: value, as: UTF8.self).map(JSON.Value.string) ?? .null
            revisions[flag] = .number(Number(revision))
        }
        self.flags = flags
        self.revisions = revisions
    }

    /// The flags as one JSON object, in the order of their keys: the same flags are the same bytes.
    package var body: [UInt8] { flags.bytes }
}

extension JSON.Object {
    /// A number of 64 bits, which the gateway writes as a string and leaves out when it is 0. Nil for
    /// another value, and for the highest number: the watch begins at the next.
    fileprivate func revision(_ key: String) -> Int64? {
        guard let value = self[key] else { return 0 }
        let number = value.string.flatMap(Int64.init) ?? value.number?.int64
        return number.flatMap { (0..<Int64.max).contains($0) ? $0 : nil }
    }
}
