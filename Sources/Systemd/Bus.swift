import CSystemd
package import EventLoop
import Glibc
import POSIX

/// A connection to a message bus, sd-bus(3) on the loop: calls that do not wait, and signals.
///
/// The connection is made and greeted on the loop, a call is queued until then, and every call has a time limit,
/// counted from the greeting. Without a greeting the connection is lost after sd-bus's own 90 seconds. A lost
/// connection is not repaired: drop this object and make another.
@safe
package final class Bus {
    private let pointer: OpaquePointer
    private let onLoss: () -> Void
    /// Whether the connection is of no more use.
    package private(set) var isLost = false
    private var disconnection: Match?
    /// The owners of the names whose signals are followed.
    private var owners: [String: NameOwner] = [:]

    /// The system's bus, as D-Bus specifies its address.
    private static let systemAddress = "unix:path=/run/dbus/system_bus_socket"

    /// The path of the socket of the bus at this address, nil for the system's; nil if it has no path.
    package static func socketPath(of address: String?) -> String? {
        let parts = (address ?? systemAddress).split(separator: ";").first?.split(separator: ",")
        let path = parts?.first { $0.hasPrefix(pathKey) }
        return path.map { String($0.dropFirst(pathKey.count)) }
    }

    private static let pathKey = "unix:path="

    /// Begins to connect to the bus at this address; nil for the system's. `onLoss` is called once, at its end.
    package convenience init(
        _ loop: EventLoop, address: String?, onLoss: @escaping () -> Void = {}
    ) throws(BusError) {
        try self.init(loop, at: address ?? Self.systemAddress, isBus: true, onLoss)
    }

    /// Begins to connect to a process that listens at this path and is no bus.
    package convenience init(_ loop: EventLoop, peer path: String) throws(BusError) {
        try self.init(loop, at: Self.pathKey + path, isBus: false) {}
    }

    private init(
        _ loop: EventLoop, at address: String, isBus: Bool, _ onLoss: @escaping () -> Void
    ) throws(BusError) {
        var made: OpaquePointer?
        try check("make a bus connection", unsafe sd_bus_new(&made))
        guard let pointer = unsafe made else {
            throw BusError("make a bus connection", code: ENOMEM)
        }
        unsafe self.pointer = pointer
        self.onLoss = onLoss
        let call = "connect to the bus"
        try check(call, unsafe sd_bus_set_address(pointer, address))
        if isBus { try check(call, unsafe sd_bus_set_bus_client(pointer, 1)) }
        try check(call, unsafe sd_bus_start(pointer))
        try check(call, unsafe loop.attach { unsafe sd_bus_attach_event(pointer, $0, 0) })
        disconnection = try Match(
            self, from: SignalSender.library,
            "interface='\(SignalSender.library)',member='Disconnected'"
        ) { [unowned self] _ in lose() }
    }

    private func lose() {
        guard !isLost else { return }
        isLost = true
        onLoss()
    }

    /// Drops messages that are still to be sent: it never waits.
    deinit { unsafe sd_bus_close_unref(pointer) }

    /// Makes a call, and passes its answer to the handler from the loop. Throws if the call cannot
    /// be queued. After the connection is dropped, the handler is not called.
    package func call(
        _ call: Call, within limit: Duration = .seconds(30),
        answer: @escaping (Result<Message, BusError>) -> Void
    ) throws(BusError) {
        let message = try unsafe call.message(on: pointer)
        defer { unsafe sd_bus_message_unref(message) }
        try unsafe PendingCall.send(
            message, on: pointer, called: call.purpose, limit: limit, answer: answer)
    }

    /// The sender of this name. The owner of a name is asked for once; without an answer the connection counts as lost.
    fileprivate func sender(named name: String) throws(BusError) -> SignalSender {
        if SignalSender.fixedNames.contains(name) { return .fixed(name) }
        if let known = owners[name] { return .owner(known) }
        let owner = try NameOwner(of: name, on: self) { [weak self] in self?.lose() }
        owners[name] = owner
        return .owner(owner)
    }

    /// Calls a function of sd-bus on this connection, and returns its result.
    func withPointer(_ body: (OpaquePointer) -> Int32) -> Int32 { unsafe body(pointer) }
}

/// Turns the result of a C call into a Swift value or error.
@discardableResult
func check(_ call: String, _ result: Int32) throws(BusError) -> Int32 {
    guard result >= 0 else { throw BusError(call, code: -result) }
    return result
}

extension BusError {
    /// The error of a call of sd-bus that returned `-code`.
    init(_ call: String, code: Int32) {
        self.init(call: call, name: nil, message: SystemError.text(of: code))
    }
}

/// A call that failed: here, on the bus, or at the service that was called.
package struct BusError: Error, Hashable, CustomStringConvertible {
    /// The purpose of the call, verb and object.
    package let call: String
    /// The name on the bus, such as `org.freedesktop.DBus.Error.AccessDenied`; nil if the call failed here.
    package let name: String?
    /// The cause, for people.
    package let message: String

    package var description: String { "\(call): \(message)" }
}

/// A subscription to the signals of one sender, for as long as this object lives.
@safe
package final class Match {
    private var slot: OpaquePointer?
    private let sender: SignalSender
    /// The only signals that are passed on; nil for all that come.
    private let signal: (interface: String, member: String)?
    private let handler: (Message) -> Void

    /// `rule` is the rest of a match rule of the D-Bus specification, for signals of `sender`, a name on the bus. If
    /// the bus refuses it, the connection breaks.
    package init(
        _ bus: Bus, from sender: String, _ rule: String, handler: @escaping (Message) -> Void
    ) throws(BusError) {
        (signal, self.handler) = (nil, handler)
        self.sender = try bus.sender(named: sender)
        let rule = Self.rule(sender, rule)
        let userdata = unsafe Unmanaged.passUnretained(self).toOpaque()
        try check(
            "follow signals on the bus",
            unsafe bus.withPointer { pointer in
                unsafe sd_bus_add_match_async(
                    pointer, &slot, rule,
                    { message, userdata, _ in unsafe Match.deliver(message, to: userdata) }, nil,
                    userdata)
            })
    }

    /// Has the bus send the signals of these rules, which only it can apply: sd-bus compares no argument that stands
    /// after an argument of another type than string. At the bus they last as long as the connection. `handler` is
    /// called with each signal of this name, whatever rule it came by; `onRefusal` if the bus refuses a rule.
    package init(
        _ bus: Bus, from sender: String, interface: String, member: String, rules: [String],
        onRefusal: @escaping (BusError) -> Void, handler: @escaping (Message) -> Void
    ) throws(BusError) {
        (signal, self.handler) = ((interface, member), handler)
        self.sender = try bus.sender(named: sender)
        let userdata = unsafe Unmanaged.passUnretained(self).toOpaque()
        try check(
            "filter signals of the bus",
            unsafe bus.withPointer { pointer in
                unsafe sd_bus_add_filter(
                    pointer, &slot,
                    { message, userdata, _ in unsafe Match.deliver(message, to: userdata) },
                    userdata)
            })
        for rule in rules {
            let call = Call.ofBus(
                "follow signals on the bus", "AddMatch", [.text(Self.rule(sender, rule))])
            try bus.call(call) { if case .failure(let error) = $0 { onRefusal(error) } }
        }
    }

    deinit { unsafe sd_bus_slot_unref(slot) }

    private static func rule(_ sender: String, _ rest: String) -> String {
        "type='signal',sender='\(sender)',\(rest)"
    }

    /// Always returns 0: others handle the message too.
    private static func deliver(
        _ message: OpaquePointer?, to userdata: UnsafeMutableRawPointer?
    ) -> Int32 {
        guard let userdata = unsafe userdata, let message = unsafe message else { return 0 }
        let match = unsafe Unmanaged<Match>.fromOpaque(userdata).takeUnretainedValue()
        if let signal = match.signal,
            unsafe sd_bus_message_is_signal(message, signal.interface, signal.member) <= 0
        {
            return 0
        }
        let received = unsafe Message(message)
        guard match.sender.hasSent(received) else { return 0 }
        withExtendedLifetime(match) { match.handler(received) }
        return 0
    }
}
