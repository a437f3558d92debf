package import JSON

// Messages of Varlink's wire format: JSON objects, each followed by a NUL byte.

/// A call of a method, as a client sends it (varlink.org, "Method call").
package struct MethodCall: Hashable, Sendable {
    /// How many replies the client wants.
    package enum Replies: Hashable, Sendable {
        /// `oneway`.
        case none
        case one
        /// `more`: any number, each but the last marked with `continues`.
        case many
    }

    /// The interface in reverse domain order, such as `org.varlink.service`.
    package let interface: String
    /// The method's name without the interface.
    package let method: String
    /// The parameters by name; empty without any.
    package let parameters: JSON.Object
    /// How many replies the client wants.
    package let replies: Replies
    /// Whether the client wants to speak another protocol after the reply (`upgrade`).
    package let isUpgrade: Bool

    /// A call to be sent.
    package init(
        interface: String, method: String, parameters: JSON.Object = JSON.Object(),
        replies: Replies = .one, isUpgrade: Bool = false
    ) {
        self.interface = interface
        self.method = method
        self.parameters = parameters
        self.replies = replies
        self.isUpgrade = isUpgrade
    }

    /// Reads one message without its NUL. A message that is no call gets no reply either: the client does
    /// not speak Varlink.
    package init(_ message: [UInt8]) throws(MalformedCall) {
        guard let object = Self.json(message)?.object, let full = object["method"]?.string,
            let parameters = Self.parameters(in: object)
        else { throw MalformedCall() }
        let dot = full.utf8.lastIndex(of: UInt8(ascii: ".")) ?? full.startIndex
        interface = String(full[..<dot])
        method = String(full[dot...].drop { $0 == "." })
        self.parameters = parameters
        let (more, oneway) = (object["more"]?.bool ?? false, object["oneway"]?.bool ?? false)
        guard !(more && oneway) else { throw MalformedCall() }
        isUpgrade = object["upgrade"]?.bool ?? false
        replies = oneway ? .none : more ? .many : .one
    }

    /// The message as JSON; nil if it is invalid, or nested deeper than any call.
    private static func json(_ message: [UInt8]) -> JSON.Value? {
        do {
            return try JSON.Value.parse(message, depthLimit: 16)
        } catch {
            return nil
        }
    }

    /// Nil if they are not an object. Without parameters, or with null, it is empty.
    private static func parameters(in call: JSON.Object) -> JSON.Object? {
        switch call["parameters"] {
        case nil, .null: JSON.Object()
        case .some(let value): value.object
        }
    }

    /// The message of this call, with its NUL.
    package var message: [UInt8] {
        var object: JSON.Object = [
            "method": .string("\(interface).\(method)"), "parameters": .object(parameters),
        ]
        switch replies {
        case .none: object["oneway"] = .bool(true)
        case .one: break
        case .many: object["more"] = .bool(true)
        }
        if isUpgrade { object["upgrade"] = .bool(true) }
        return Array(JSON.Value.object(object).serialized().utf8) + [0]
    }
}

/// A message that is not a call.
package struct MalformedCall: Error, Hashable {
    /// The error; it has no details.
    package init() {}
}

/// A reply to a call (varlink.org, "Method reply").
package enum Reply: Hashable, Sendable {
    /// One of several replies; more will follow.
    case more(JSON.Object)
    /// The only reply, or the last of several.
    case last(JSON.Object)
    /// The method failed.
    case failure(MethodError)

    /// The message of this reply, with its NUL.
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

    /// Reads a server's message without its NUL; nil if it is not a reply.
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

/// Splits the bytes of a connection into messages, which end with a NUL byte (varlink.org, "Wire
/// format").
///
/// It buffers at most a message of `limit` bytes and the bytes that came with its end.
package struct Framing: Sendable {
    /// The longest call in bytes.
    package static let limit = 64 << 10

    /// A message is longer than the limit.
    package struct TooLong: Error, Hashable {
        /// The error; it has no details.
        package init() {}
    }

    private let limit: Int
    private var bytes: [UInt8] = []
    /// How many bytes are known to have no NUL, so that a message that arrives byte by byte is not
    /// searched again and again.
    private var searched = 0

    /// An empty buffer; `limit` is the longest message in bytes.
    package init(limit: Int = Framing.limit) {
        self.limit = limit
    }

    /// The bytes that it keeps.
    package var count: Int { bytes.count }

    /// Whether a whole message is there.
    package var hasMessage: Bool { bytes[searched...].contains(0) }

    /// Adds bytes as they were received.
    package mutating func append(_ more: some Collection<UInt8>) {
        bytes.append(contentsOf: more)
    }

    /// Removes and returns the first message without its NUL; nil while none is complete.
    package mutating func next() throws(TooLong) -> [UInt8]? {
        guard let end = bytes[searched...].firstIndex(of: 0) else {
            searched = bytes.count
            guard bytes.count <= limit else { throw TooLong() }
            return nil
        }
        guard end <= limit else { throw TooLong() }
        let message = Array(bytes[..<end])
        // Not the same array, which would keep room for the longest message that ever came.
        bytes = end + 1 == bytes.count ? [] : Array(bytes[(end + 1)...])
        searched = 0
        return message
    }
}
