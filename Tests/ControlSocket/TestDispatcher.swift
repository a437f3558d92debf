import ControlSocket
import Decision
import EventLoop
import JSON
import Support
import Testing

/// A dispatcher over a `SimulatedDaemon`, without a socket.
struct TestDispatcher {
    let daemon: SimulatedDaemon
    private let dispatcher: Dispatcher

    init(activation: Activation = .immediate, closeAtOnce: Int? = nil) throws {
        daemon = try SimulatedDaemon(activation: activation, closeAtOnce: closeAtOnce)
        dispatcher = Dispatcher(
            daemon, version: "9.9",
            author: { peer, sudoUser in
                "user \(peer.user)" + (sudoUser.map { ", SUDO_USER \($0)" } ?? "")
            })
    }

    func perform(_ call: MethodCall) throws(MethodError) -> MethodResponse {
        try dispatcher.perform(call, by: Peer(user: 0, groups: [0]))
    }

    /// Calls a method of the daemon's own interface.
    func perform(
        _ method: String, _ parameters: JSON.Object = [:]
    ) throws(MethodError) -> MethodResponse {
        try perform(
            MethodCall(interface: "io.killswitchd", method: method, parameters: parameters))
    }

    /// The answer to a call, after the daemon has handled the call's events.
    func call(_ method: String, _ parameters: JSON.Object = [:]) throws -> JSON.Object {
        let response = try perform(method, parameters)
        daemon.settle()
        return try #require(try response.answer)
    }

    /// Lets the source answer, which decides the service `shop`.
    func decide(inactive: Bool = false) throws {
        try daemon.answer(inactive: inactive)
        daemon.settle()
    }

    var state: String? { daemon.state(of: "shop")?["state"]?.string }
}

extension Server {
    /// A server for this daemon.
    convenience init(_ loop: EventLoop, _ daemon: SimulatedDaemon, at path: String) throws {
        let dispatcher = Dispatcher(daemon, version: "1", author: { _, _ in "me" })
        try self.init(
            loop, path: path, dispatcher, permission: { Permission(ownUser: 0, group: nil) })
    }
}

extension MethodResponse {
    /// The answer now; nil while there is none.
    var answer: JSON.Object? {
        get throws(MethodError) {
            switch self {
            case .now(let answer): answer
            case .later(let advance): try advance()
            }
        }
    }
}

extension JSON.Object {
    var states: [String] {
        (self["services"]?.array ?? []).compactMap { $0.object?["state"]?.string }
    }

    var state: String? { self["service"]?.object?["state"]?.string }

    static let maintenance: JSON.Object = [
        "service": "shop", "state": "maintenance", "reason": "disk", "seconds": 60,
    ]

    /// The order of a drill: `maintenance` with `ifOpen`.
    static let drill: JSON.Object = {
        var order = maintenance
        order["ifOpen"] = true
        return order
    }()
}
