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
    package let method: String
    package let parameters: JSON.Object
    package let replies: Replies
    /// Whether the client wants to speak another protocol after the reply (`upgrade`).
    package let isUpgrade: Bool

    package init(
        interface: String, method: String, parameters: JSON.Object = [:], replies: Replies = .one,
        isUpgrade: Bool = false
    ) {
        self.interface = interface
        self.method = method
        self.parameters = parameters
        self.replies = replies
        self.isUpgrade = isUpgrade
    }

    /// Reads one message without its NUL. One that is no call gets no reply: the client speaks no Varlink.
    package init(_ message: [UInt8]) throws(WireError) {
        guard let object = json(message, depthLimit: 16), let full = object["method"]?.string else {
            throw .malformed
        }
        // By bytes: with a combining mark after it, a dot is no character of its own.
        let dot = full.utf8.lastIndex(of: UInt8(ascii: "."))
        interface = dot.map { String(full[..<$0]) } ?? ""
        method = dot.map { String(full[full.utf8.index(after: $0)...]) } ?? full
        let given = object["parameters"] ?? .null
        let (more, oneway) = (object["more"]?.bool ?? false, object["oneway"]?.bool ?? false)
        guard let parameters = given == .null ? [:] : given.object, !(more && oneway) else {
            throw .malformed
        }
        self.parameters = parameters
        isUpgrade = object["upgrade"]?.bool ?? false
        replies = oneway ? .none : more ? .many : .one
    }

    package var message: [UInt8] {
        var object: JSON.Object = [
            "method": .string("\(interface).\(method)"), "parameters": .object(parameters),
        ]
        switch replies {
        case .none: object["oneway"] = true
        case .one: break
        case .many: object["more"] = true
        }
        if isUpgrade { object["upgrade"] = true }
        return bytes(of: object)
    }
}

/// The object of a message without its NUL; nil if it is none, or nested deeper than the limit.
private func json(_ message: [UInt8], depthLimit: Int) -> JSON.Object? {
    do { return try JSON.Value.parse(message, depthLimit: depthLimit).object } catch { return nil }
}

private func bytes(of object: JSON.Object) -> [UInt8] {
    JSON.Value.object(object).serializedBytes() + [0]
}

/// Why bytes are no message that can be answered: not a call, or longer than the limit.
package enum WireError: Error {
    case malformed
    case tooLong
}

/// A reply to a call (varlink.org, "Method reply").
package enum Reply: Hashable, Sendable {
    /// One of several replies; more will follow.
    case more(JSON.Object)
    /// The only reply, or the last of several.
    case last(JSON.Object)
    case failure(MethodError)

    /// The message of this reply, with its NUL.
    package var message: [UInt8] {
        let object: JSON.Object =
            switch self {
            case .more(let parameters): ["parameters": .object(parameters), "continues": true]
            case .last(let parameters): ["parameters": .object(parameters)]
            case .failure(let failure):
                ["error": .string(failure.name), "parameters": .object(failure.parameters)]
            }
        return bytes(of: object)
    }

    /// Reads a server's message without its NUL; nil if it is not a reply.
    package init?(_ message: [UInt8]) {
        guard let object = json(message, depthLimit: JSON.Value.ownDepthLimit) else { return nil }
        let parameters = object["parameters"]?.object ?? [:]
        if let name = object["error"]?.string {
            self = .failure(MethodError(name, parameters))
        } else if object["continues"]?.bool == true {
            self = .more(parameters)
        } else {
            self = .last(parameters)
        }
    }
}

/// Splits the bytes of a connection into messages, which end with a NUL byte (varlink.org, "Wire format"). It buffers
/// at most a message of `limit` bytes and the bytes that came with its end.
package struct Framing: Sendable {
    /// The longest call in bytes.
    package static let limit = 64 << 10

    private let limit: Int
    private var bytes: [UInt8] = []
    /// How many bytes are known to have no NUL, so that none is searched twice.
    private var searched = 0

    /// An empty buffer; `limit` is the longest message in bytes.
    package init(limit: Int = Framing.limit) { self.limit = limit }

    package var count: Int { bytes.count }

    package var hasMessage: Bool { bytes[searched...].contains(0) }

    /// Adds bytes as they were received.
    package mutating func append(_ more: some Collection<UInt8>) { bytes.append(contentsOf: more) }

    /// Removes and returns the first message without its NUL; nil while none is complete.
    package mutating func next() throws(WireError) -> [UInt8]? {
        guard let end = bytes[searched...].firstIndex(of: 0) else {
            searched = bytes.count
            guard bytes.count <= limit else { throw .tooLong }
            return nil
        }
        guard end <= limit else { throw .tooLong }
        let message = Array(bytes[..<end])
        // Not the same array, which would keep room for the longest message that ever came.
        bytes = end + 1 == bytes.count ? [] : Array(bytes[(end + 1)...])
        searched = 0
        return message
    }
}
