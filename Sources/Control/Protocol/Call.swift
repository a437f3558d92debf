package import JSON

/// A call of a method, as a client sends it (varlink.org, "Method call").
package struct Call: Hashable, Sendable {
    /// How many replies are wanted.
    package enum Replies: Hashable, Sendable {
        case none
        case one
        /// As many as there are, each but the last marked with `continues`.
        case many
    }

    /// The interface in reverse domain order, such as `org.varlink.service`.
    package let interface: String
    /// The method's name in it; empty where the client gave no interface.
    package let method: String
    package let parameters: JSON.Object
    package let replies: Replies

    package init(
        interface: String, method: String, parameters: JSON.Object = JSON.Object(),
        replies: Replies = .one
    ) {
        self.interface = interface
        self.method = method
        self.parameters = parameters
        self.replies = replies
    }

    /// Reads one message. What is no call has no answer either: the client does not speak Varlink.
    package init(_ message: [UInt8]) throws(NoCall) {
        guard let object = NoCall.json(message)?.object, let full = object["method"]?.string,
            let parameters = Self.parameters(in: object)
        else { throw NoCall() }
        let dot = full.utf8.lastIndex(of: UInt8(ascii: ".")) ?? full.startIndex
        interface = String(full[..<dot])
        method = String(full[dot...].drop { $0 == "." })
        self.parameters = parameters
        let (more, oneway) = (object["more"]?.bool ?? false, object["oneway"]?.bool ?? false)
        guard object["upgrade"]?.bool != true, !(more && oneway) else { throw NoCall() }
        replies = oneway ? .none : more ? .many : .one
    }

    /// Nil where they are no object. Left out or null is the same as empty.
    private static func parameters(in call: JSON.Object) -> JSON.Object? {
        switch call["parameters"] {
        case nil, .null: JSON.Object()
        case .some(let value): value.object
        }
    }

    /// The message that makes this call, NUL and all.
    package var message: [UInt8] {
        var object: JSON.Object = [
            "method": .string("\(interface).\(method)"), "parameters": .object(parameters),
        ]
        switch replies {
        case .none: object["oneway"] = .bool(true)
        case .one: break
        case .many: object["more"] = .bool(true)
        }
        return Array(JSON.Value.object(object).serialized().utf8) + [0]
    }
}

/// A message that is no call, or asks for what this server never does: `upgrade`.
package struct NoCall: Error, Hashable {
    package init() {}

    /// The message as JSON, nested no deeper than any call is; nil where it is none.
    fileprivate static func json(_ message: [UInt8]) -> JSON.Value? {
        do {
            return try JSON.Value.parse(message, depthLimit: 16)
        } catch {
            return nil
        }
    }
}
