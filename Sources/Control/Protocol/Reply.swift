package import JSON

/// One answer to a call (varlink.org, "Method reply").
package enum Reply: Hashable, Sendable {
    /// More will follow.
    case more(JSON.Object)
    case last(JSON.Object)
    case failure(MethodError)

    /// The message on the wire, NUL and all.
    package var message: [UInt8] {
        let object: JSON.Object =
            switch self {
            case .more(let parameters):
                ["parameters": .object(parameters), "continues": .bool(true)]
            case .last(let parameters):
                ["parameters": .object(parameters)]
            case .failure(let failure):
                ["error": .string(failure.name), "parameters": .object(failure.parameters)]
            }
        return Array(JSON.Value.object(object).serialized().utf8) + [0]
    }

    /// Reads a message of a server; nil for what is no reply.
    package init?(_ message: [UInt8]) {
        guard
            case .success(.object(let object)) = Result(catching: {
                try JSON.Value.parse(message, depthLimit: JSON.Value.ownDepthLimit)
            })
        else { return nil }
        let parameters = object["parameters"]?.object ?? JSON.Object()
        if let name = object["error"]?.string {
            self = .failure(MethodError(name, parameters))
        } else if object["continues"]?.bool == true {
            self = .more(parameters)
        } else {
            self = .last(parameters)
        }
    }
}
