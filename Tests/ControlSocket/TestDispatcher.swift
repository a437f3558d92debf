import ControlSocket
import Decision
import EventLoop
import JSON
import Testing

/// A dispatcher over a `SimulatedDaemon`, without a socket.
struct TestDispatcher {
    static let root = Peer(user: 0, groups: [0])
    static let anybody = Peer(user: 1000, groups: [1000])

    let daemon: SimulatedDaemon
    private let dispatcher: Dispatcher

    init(activation: Activation = .immediate, closeAtOnce: Int? = nil) throws {
        daemon = try SimulatedDaemon(activation: activation, closeAtOnce: closeAtOnce)
        dispatcher = Dispatcher(
            daemon, version: "9.9", permission: { Permission(ownUser: 500, group: 987) },
            author: { peer, sudoUser in
                "user \(peer.user)" + (sudoUser.map { ", SUDO_USER \($0)" } ?? "")
            })
    }

    func perform(_ call: MethodCall, by peer: Peer) throws(MethodError) -> MethodResponse {
        try dispatcher.perform(call, by: peer)
    }

    /// Calls a method of the daemon's own interface.
    func perform(
        _ method: String, _ parameters: JSON.Object = [:], by peer: Peer = root,
        replies: MethodCall.Replies = .one
    ) throws(MethodError) -> MethodResponse {
        try perform(
            MethodCall(
                interface: "io.killswitchd", method: method, parameters: parameters,
                replies: replies), by: peer)
    }

    /// The answer to a call, after the daemon has handled the call's events.
    func call(_ method: String, _ parameters: JSON.Object = [:]) throws -> JSON.Object {
        let response = try perform(method, parameters)
        switch response {
        case .now(let answer):
            return answer.object
        case .later, .onChange:
            let advance = try #require(response.advance)
            var first: JSON.Object?
            try daemon.settle { trigger in
                if case .last(let answer) = try advance(trigger) { first = first ?? answer }
            }
            return try #require(first)
        }
    }

    /// Lets the source answer, which decides the service `shop`.
    func decide(inactive: Bool = false) throws {
        try daemon.answer(inactive: inactive)
        daemon.settle { _ in }
    }
}

extension Server {
    /// A server for this daemon, at which root alone may act; the test changes its limits.
    convenience init(
        _ loop: EventLoop, _ daemon: SimulatedDaemon, at path: String,
        _ change: (inout ServerLimits) -> Void = { _ in }
    ) throws {
        var limits = ServerLimits()
        change(&limits)
        let dispatcher = Dispatcher(
            daemon, version: "1", permission: { Permission(ownUser: 0, group: nil) },
            author: { _, _ in "me" })
        try self.init(loop, path: path, dispatcher, limits: limits)
    }
}

extension MethodResponse {
    /// The answer, where it is given at once.
    var answer: JSON.Object? {
        get throws {
            switch self {
            case .now(let answer): answer.object
            case .later(let advance), .onChange(let advance): try advance(.writable)?.object
            }
        }
    }

    /// The function that each trigger calls, where the answer is given later.
    var advance: ((ReplyTrigger) throws(MethodError) -> Reply?)? {
        switch self {
        case .now: nil
        case .later(let advance), .onChange(let advance):
            { (trigger) throws(MethodError) in try advance(trigger)?.whole }
        }
    }
}

extension ReplyParameters {
    /// The reply with its lists.
    var whole: Reply { continues ? .more(object) : .last(object) }
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
