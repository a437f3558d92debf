package import JSON

/// A method of the interface. Each has a file of its own, and a line in `Interface.methods`.
package struct Method: Sendable {
    /// The name without the interface, such as `Force`.
    package let name: String
    /// The names of its parameters. A call with another parameter is rejected.
    var parameters: [String] = []
    /// The parameter that each method has: the user who called sudo, as the client claims by `SUDO_USER`.
    package static let sudoUser = "sudoUser"
    /// A comment and the signature, in the interface description language.
    let declaration: String
    let perform: @Sendable (MethodRequest) throws(MethodError) -> MethodResponse
}

/// A call of a method.
struct MethodRequest {
    /// The parameters, all of them declared.
    let parameters: Parameters
    /// The caller by name and uid, for records.
    let author: String
    let daemon: any ControllableDaemon
}

/// How a request is answered.
package enum MethodResponse {
    /// Returns the reply; nil while there is none.
    package typealias Advance = () throws(MethodError) -> JSON.Object?

    /// At once, with this reply.
    case now(JSON.Object)
    /// When the function returns a reply: it is called until then, each time that files were written.
    case later(Advance)

    /// As soon as the daemon has handled everything that was posted to it, and `ready` returns a reply.
    static func settled(
        _ daemon: any ControllableDaemon, _ ready: @escaping Advance
    ) -> MethodResponse {
        .later { () throws(MethodError) in daemon.isIdle ? try ready() : nil }
    }
}
