package import Decision
package import JSON

/// The answer to an evaluation of all flags.
package struct Evaluations: Hashable {
    /// The value of each flag. Flags that the server does not know, has disabled, or leaves to the default of the
    /// application, are absent. Unreadable flags are null.
    package let flags: JSON.Object
    /// The flags that the server could not evaluate this time, or gives more than once.
    package let unreadable: UnreadableFlags
    package let version: String?
    /// The streams that tell of changes, as the server offers them.
    package let streams: [EventStreamEntry]

    /// Reads the body of an answer. An entry that cannot be read makes only its own flag unreadable.
    package init(_ body: [UInt8]) throws(Failure) {
        let object = try FlagDocument.parse(body)
        guard let items = object["flags"]?.array else {
            throw Failure(.invalid, "the answer has no list 'flags'")
        }
        var flags = JSON.Object()
        var unreadable = UnreadableFlags()
        var known: Set<ExactString> = []
        for item in items {
            guard let entry = item.object, let key = entry["key"]?.string else {
                unreadable.unlisted = "is missing, and an entry of the answer has no key"
                continue
            }
            var cause: String?
            // Some servers write an absent member as null.
            switch entry["errorCode"] {
            case _ where !known.insert(ExactString(key)).inserted: cause = "is given more than once"
            case nil, .null:
                switch entry["reason"]?.string {
                // The value is a default of the server.
                case "DISABLED": break
                case "ERROR": cause = "could not be evaluated: its reason is 'ERROR'"
                default: if let value = entry["value"] { flags[key] = value }
                }
            case .string("FLAG_NOT_FOUND"): break
            case .string(let code): cause = "could not be evaluated: \(quoted(code))"
            case .bool, .number, .array, .object:
                cause = "could not be evaluated: its error code is not a string"
            }
            guard let cause else { continue }
            flags[key] = .null
            unreadable.causes[ExactString(key)] = cause
        }
        self.flags = flags.sortedByKey
        self.unreadable = unreadable
        version = object["metadata"]?.object?["version"]?.scalarText
        streams = (object["eventStreams"]?.array ?? []).compactMap(EventStreamEntry.init)
    }

    /// The flags as one JSON object, in the order of their keys: servers give them in any order.
    package var body: [UInt8] { flags.bytes }
}

/// A stream of events that a server offers. Its address may hold a secret, so it is never logged.
package struct EventStreamEntry: Hashable {
    /// The beginning of the address; nil for the origin of the server.
    let origin: String?
    let rest: String

    /// Nil for an entry of an unknown form or type.
    init?(_ value: JSON.Value) {
        guard let entry = value.object, entry["type"]?.string == "sse" else { return nil }
        if let url = entry["url"]?.string, entry["endpoint"] == nil {
            (origin, rest) = ("", url)
        } else if let endpoint = entry["endpoint"]?.object, entry["url"] == nil,
            let path = endpoint["requestUri"]?.string, path.utf8.first == UInt8(ascii: "/")
        {
            (origin, rest) = (endpoint["origin"]?.string, path)
        } else {
            return nil
        }
    }
}
