import JSON
import Transfer

/// What is asked of etcd's JSON gateway, version 3: a POST of one object, in which keys are base64 and
/// numbers of 64 bits are strings.
enum GatewayCall: Hashable {
    /// All keys with the prefix, as the cluster has agreed on them.
    case range(prefix: String)
    /// All changes of them from that revision on.
    case watch(prefix: String, from: Int64)
    /// A token for this user.
    case authenticate(user: String, password: String)

    var path: String {
        switch self {
        case .range: "/v3/kv/range"
        case .watch: "/v3/watch"
        case .authenticate: "/v3/auth/authenticate"
        }
    }

    var body: [UInt8] { Array(object.serialized().utf8) }

    /// A watch ends by itself where its member has lost the cluster: without this word, it stays open
    /// and says nothing.
    var headers: [Header] {
        switch self {
        case .watch: [Header("Grpc-Metadata-hasleader", "true")]
        case .range, .authenticate: []
        }
    }

    private var object: JSON.Value {
        switch self {
        case .range(let prefix):
            return .object(Self.keys(prefix))
        case .watch(let prefix, let revision):
            var create = Self.keys(prefix)
            create["start_revision"] = .string(String(revision))
            create["progress_notify"] = .bool(true)
            return .object(["create_request": .object(create)])
        case .authenticate(let user, let password):
            return .object(["name": .string(user), "password": .string(password)])
        }
    }

    /// The keys from the prefix itself up to the first that does not begin with it. Of all keys, the
    /// first is a NUL, and so is the end that means none.
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
