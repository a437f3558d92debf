import Decision
package import JSON
package import Requests
import Signing

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
