import JSON

/// A method of the interface: its declaration, who may call it, and its implementation.
///
/// Each method has a file of its own, and a line in `Interface.methods`.
package struct Method: Sendable {
    /// Who may call it.
    package enum Access: Sendable {
        /// Everybody.
        case reading
        /// Root, the daemon's user and the group.
        case acting
    }

    /// The name without the interface, such as `Force`.
    package let name: String
    /// A comment and the signature, in the interface description language.
    package let declaration: String
    /// Who may call it.
    package let access: Access
    /// The names of its parameters. A call with another parameter is rejected.
    package let parameters: [String]
    /// The implementation.
    package let perform: @Sendable (MethodRequest) throws(MethodError) -> MethodResponse

    /// A method with its declaration and implementation.
    package init(
        _ name: String, _ access: Access, parameters: [String] = [], declaration: String,
        perform: @escaping @Sendable (MethodRequest) throws(MethodError) -> MethodResponse
    ) {
        self.name = name
        self.declaration = declaration
        self.access = access
        self.parameters = parameters
        self.perform = perform
    }
}

/// A call of a method that the caller is permitted to make.
package struct MethodRequest {
    /// The parameters, all of them declared.
    package let parameters: Parameters
    /// Whether the client wants any number of replies (`more`).
    package let isStream: Bool
    /// The caller by name and uid, for records; empty for a method that only reads.
    package let author: String
    /// The daemon.
    package let daemon: any ControllableDaemon
    /// What has changed of its services, for all clients together.
    package let changes: Changes
}

/// How a request is answered.
package enum MethodResponse {
    /// At once, with this reply.
    case now(ReplyParameters)
    /// Later: the function is called at each trigger until it is done, or the caller is gone.
    case later((ReplyTrigger) throws(MethodError) -> ReplyProgress)
    /// Later: the function is called some time after something has changed, until it is done. It misses what
    /// was in between.
    case afterNews(() throws(MethodError) -> ReplyProgress)
}

/// The state of a request that is answered later.
package enum ReplyProgress {
    /// There is no reply yet.
    case waiting
    /// One of several replies; for a call that wants a single one, it is the last.
    case more(ReplyParameters)
    /// The last reply.
    case done(ReplyParameters)
}

extension MethodResponse {
    /// As soon as `ready` returns a reply: at once, or at a later trigger.
    package static func when(
        _ ready: @escaping () throws(MethodError) -> ReplyParameters?
    ) throws(MethodError) -> MethodResponse {
        if let reply = try ready() { return .now(reply) }
        return .afterNews { () throws(MethodError) in
            try ready().map(ReplyProgress.done) ?? .waiting
        }
    }
}
