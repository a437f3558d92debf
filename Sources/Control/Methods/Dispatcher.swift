import JSON

/// Finds the method of a call, and lets those call it who may. Knows nothing of sockets.
package struct Dispatcher {
    private let subject: any Subject
    private let standard: StandardInterface
    private let permission: () -> Permission
    private let author: (Peer) -> String

    /// `version` is that of the program. `permission` and `author` are asked anew for each call that
    /// acts: groups and users come and go.
    package init(
        _ subject: any Subject, version: String, permission: @escaping () -> Permission,
        author: @escaping (Peer) -> String
    ) {
        self.subject = subject
        standard = StandardInterface(version: version)
        self.permission = permission
        self.author = author
    }

    /// Whether a peer may do more than read.
    package func mayAct(_ peer: Peer) -> Bool { permission().mayAct(peer) }

    /// Does what the call asks for, in the name of this peer.
    package func perform(_ call: Call, by peer: Peer) throws(MethodError) -> Response {
        switch call.interface {
        case Interface.standard:
            return .now(try standard.answer(call))
        case Interface.name:
            guard let method = Interface.methods.first(where: { $0.name == call.method }) else {
                throw .methodNotFound(call.method)
            }
            return try perform(method, call, by: peer)
        default:
            throw .interfaceNotFound(call.interface)
        }
    }

    private func perform(
        _ method: Method, _ call: Call, by peer: Peer
    ) throws(MethodError) -> Response {
        let author: String
        switch method.access {
        case .reading:
            author = ""
        case .acting:
            guard mayAct(peer) else { throw .notPermitted(method.name) }
            author = self.author(peer)
        }
        return try method.perform(
            Request(
                parameters: Parameters(call.parameters, allowed: method.parameters),
                isStream: call.replies == .many, author: author, subject: subject))
    }
}
