package import Decision
package import JSON

/// The answer to an evaluation of all flags.
package struct Evaluations: Hashable {
    /// What each flag is worth. One that could not be evaluated, or is left to the code that asks, is
    /// not among them: the server has no opinion.
    package let flags: JSON.Object
    package let version: String?
    /// Where changes are told, as the server writes it.
    package let streams: [EventStreamEntry]

    package init(_ body: [UInt8]) throws(Failure) {
        let object = try FlagDocument.parse(body)
        guard let items = object["flags"]?.array else {
            throw Failure(.invalid, "the answer has no list 'flags'")
        }
        var found: [(key: String, value: JSON.Value)] = []
        var known = JSON.Object()
        for item in items {
            guard let item = item.object, let key = item["key"]?.string else {
                throw Failure(.invalid, "the answer holds a flag without a key")
            }
            guard known[key] == nil else {
                throw Failure(.invalid, "the answer holds a flag twice")
            }
            known[key] = .null
            // Some servers write what is not there as null.
            guard item["errorCode"] ?? .null == .null, let value = item["value"] else { continue }
            found.append((key, value))
        }
        found.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        flags = JSON.Object(found.map { ($0.key, $0.value) })
        let version = object["metadata"]?.object?["version"]
        self.version = version?.string ?? version?.number?.literal
        streams = (object["eventStreams"]?.array ?? []).compactMap(EventStreamEntry.init)
    }

    /// The flags as one JSON object, in the order of their keys: servers give them in any order.
    package var body: [UInt8] { Array(JSON.Value.object(flags).serialized().utf8) }
}

/// A stream of events that a server offers. Its address may hold a secret, so it is never logged.
package enum EventStreamEntry: Hashable {
    case url(String)
    /// A path, and the origin it belongs to where that is not the server's own.
    case path(String, origin: String?)

    /// Nil for what is no stream that we know.
    init?(_ value: JSON.Value) {
        guard let entry = value.object, entry["type"]?.string == "sse" else { return nil }
        if let url = entry["url"]?.string, entry["endpoint"] == nil {
            self = .url(url)
        } else if let endpoint = entry["endpoint"]?.object, entry["url"] == nil,
            let path = endpoint["requestUri"]?.string, path.utf8.first == UInt8(ascii: "/")
        {
            self = .path(path, origin: endpoint["origin"]?.string)
        } else {
            return nil
        }
    }
}
