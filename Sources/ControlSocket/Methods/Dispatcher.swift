/// Finds the method of a call. Knows nothing of sockets, and not who may call.
package struct Dispatcher {
    private let daemon: any ControllableDaemon
    private let version: String
    private let author: (Peer, _ sudoUser: String?) -> String

    /// `version` is the program's. `author` names the person at a peer for records.
    package init(
        _ daemon: any ControllableDaemon, version: String,
        author: @escaping (Peer, _ sudoUser: String?) -> String
    ) {
        self.daemon = daemon
        self.version = version
        self.author = author
    }

    /// Performs a call of this peer, who may. Throws if there is no such method.
    package func perform(_ call: MethodCall, by peer: Peer) throws(MethodError) -> MethodResponse {
        guard !call.isUpgrade else { throw .methodNotImplemented(call.method) }
        switch call.interface {
        case Interface.standard:
            return .now(try StandardInterface.answer(call, version: version))
        case Interface.name:
            guard let method = Interface.methods.first(where: { $0.name == call.method }) else {
                throw .methodNotFound(call.method)
            }
            let parameters = try Parameters(
                call.parameters, allowed: method.parameters + [Method.sudoUser])
            let sudoUser = try parameters.userName(Method.sudoUser)
            return try method.perform(
                MethodRequest(
                    parameters: parameters, author: author(peer, sudoUser), daemon: daemon))
        default: throw .interfaceNotFound(call.interface)
        }
    }
}
