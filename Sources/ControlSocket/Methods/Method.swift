/// A method of the interface. Each has a file of its own, and a line in `Interface.methods`.
package struct Method: Sendable {
    /// Who may call it.
    package enum Access: Sendable {
        case reading
        /// Root, the daemon's user and the group.
        case acting
    }

    /// The name without the interface, such as `Force`.
    package let name: String
    package let access: Access
    /// The names of its parameters. A call with another parameter is rejected.
    var parameters: [String] = []
    /// The names of the parameters that a call may have: who acts may say who called sudo.
    var allParameters: [String] { access == .acting ? parameters + [Self.sudoUser] : parameters }
    /// The parameter of each method that acts: the user who called sudo, as the client claims by `SUDO_USER`.
    package static let sudoUser = "sudoUser"
    /// A comment and the signature, in the interface description language.
    let declaration: String
    let perform: @Sendable (MethodRequest) throws(MethodError) -> MethodResponse
}

/// A call of a method that the caller is permitted to make.
struct MethodRequest {
    /// The parameters, all of them declared.
    let parameters: Parameters
    /// Whether the client wants any number of replies (`more`).
    let isStream: Bool
    /// The caller by name and uid, for records; empty for a method that only reads.
    let author: String
    let daemon: any ControllableDaemon
    /// What has changed of its services, for all clients together.
    let changes: Changes
}

/// How a request is answered.
package enum MethodResponse {
    /// Returns the next reply; nil while there is none.
    package typealias Advance = (ReplyTrigger) throws(MethodError) -> ReplyParameters?

    /// At once, with this reply.
    case now(ReplyParameters)
    /// Later: the function is called at each trigger until it has returned its last reply, or the caller is
    /// gone. For a call that wants a single reply, the first is the last.
    case later(Advance)
    /// The same, some time after something has changed: the function misses the triggers in between.
    case onChange(Advance)

    /// As soon as `ready` returns a reply, but not before this trigger.
    static func after(
        _ first: ReplyTrigger, _ ready: @escaping () -> ReplyParameters?
    ) -> MethodResponse {
        var hasCome = false
        return .later { trigger in
            hasCome = hasCome || trigger == first
            return hasCome ? ready() : nil
        }
    }
}
