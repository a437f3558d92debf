/// Finds the method of a call, and checks whether the peer may call it. Knows nothing of sockets.
package struct Dispatcher {
    private let daemon: any ControllableDaemon
    private let version: String
    private let permission: () -> Permission
    private let author: (Peer, _ sudoUser: String?) -> String
    private let changes = Changes()

    /// `version` is the program's. `permission` and `author` are evaluated for each call that acts, because
    /// users and groups change while the daemon runs. `author` names the person at a peer for records.
    package init(
        _ daemon: any ControllableDaemon, version: String, permission: @escaping () -> Permission,
        author: @escaping (Peer, _ sudoUser: String?) -> String
    ) {
        self.daemon = daemon
        self.version = version
        self.permission = permission
        self.author = author
    }

    /// Whether a peer may do more than read.
    package func mayAct(_ peer: Peer) -> Bool { permission().mayAct(peer) }

    /// Performs a call of this peer. Throws if there is no such method, or the peer may not call it.
    package func perform(_ call: MethodCall, by peer: Peer) throws(MethodError) -> MethodResponse {
        guard !call.isUpgrade else { throw .methodNotImplemented(call.method) }
        switch call.interface {
        case Interface.standard:
            return .now(ReplyParameters(try StandardInterface.answer(call, version: version)))
        case Interface.name:
            guard let method = Interface.methods.first(where: { $0.name == call.method }) else {
                throw .methodNotFound(call.method)
            }
            let isActing = method.access == .acting
            guard !isActing || mayAct(peer) else { throw .notPermitted(method.name) }
            let parameters = try Parameters(call.parameters, allowed: method.allParameters)
            let sudoUser = try parameters.userName(Method.sudoUser)
            return try method.perform(
                MethodRequest(
                    parameters: parameters, isStream: call.replies == .many,
                    author: isActing ? author(peer, sudoUser) : "",
                    daemon: daemon, changes: changes))
        default: throw .interfaceNotFound(call.interface)
        }
    }
}
