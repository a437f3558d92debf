package import JSON

/// One method of the interface: how it is declared, who may call it, and what it does.
///
/// Each has a file of its own, and a line in `Interface.methods`.
package struct Method: Sendable {
    package enum Access: Sendable {
        /// Open to everybody.
        case reading
        /// For root and the group.
        case acting
    }

    package let name: String
    /// A comment and the signature, in the interface description language.
    package let declaration: String
    package let access: Access
    /// The names of its parameters.
    package let parameters: [String]
    package let perform: @Sendable (Request) throws(MethodError) -> Response

    package init(
        _ name: String, _ access: Access, parameters: [String] = [], declaration: String,
        perform: @escaping @Sendable (Request) throws(MethodError) -> Response
    ) {
        self.name = name
        self.declaration = declaration
        self.access = access
        self.parameters = parameters
        self.perform = perform
    }
}

/// A call of a method by somebody who may make it.
package struct Request {
    package let parameters: Parameters
    /// Whether more replies than one are wanted.
    package let isStream: Bool
    /// The caller, as records name one.
    package let author: String
    package let subject: any Subject
}

/// What comes of a request.
package enum Response {
    case now(JSON.Object)
    /// Asked again at each occasion until it is done, or the caller has gone.
    case later((Occasion) throws(MethodError) -> Progress)
}

/// How far a request is that is answered later.
package enum Progress: Hashable {
    case waiting
    /// One of several replies. For a call that wants one reply, it is that one.
    case more(JSON.Object)
    case done(JSON.Object)
}

extension Response {
    /// As soon as there is something to answer: now, or at one of the next occasions.
    package static func when(
        _ ready: @escaping () throws(MethodError) -> JSON.Object?
    ) throws(MethodError) -> Response {
        if let reply = try ready() { return .now(reply) }
        return .later { (_) throws(MethodError) in try ready().map(Progress.done) ?? .waiting }
    }
}
