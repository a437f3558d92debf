/// The sender whose signals a match passes on.
///
/// A match rule proves nothing. Anybody may send a signal to one connection: no rule at the bus stops it, and sd-bus
/// takes a sender's unique name, such as `:1.42`, for any well-known name of a rule. So the sender of each signal is
/// compared with the present owner of the name. The bus writes the sender into each message: nobody can send under the
/// name of another.
enum SignalSender {
    /// The bus, or the library: they send under their own names, which no connection can have.
    case fixed(String)
    case owner(NameOwner)

    static let bus = "org.freedesktop.DBus"
    /// sd-bus(3), which reports the end of a connection as a signal.
    static let library = "org.freedesktop.DBus.Local"
    static let fixedNames = [bus, library]

    /// Whether a message comes from it. A message without a sender came over a connection between two processes, as
    /// that to systemd's own socket: the bus names the sender of each.
    func hasSent(_ message: Message) -> Bool {
        guard let sender = message.sender else { return true }
        return switch self {
        case .fixed(let name): sender == name
        case .owner(let owner): sender == owner.present
        }
    }
}

/// The owner of a name on the bus, at present.
final class NameOwner {
    /// The unique name of the connection; nil if there is none, and until the bus has answered.
    private(set) var present: String?
    private var changes: Match?

    /// Follows the changes, and then asks for the owner: both before the caller's own rule, so that no signal of the
    /// owner comes before the owner is known. Calls `onFailure` if the bus does not tell.
    init(
        of name: String, on bus: Bus, onFailure: @escaping () -> Void
    ) throws(BusError) {
        changes = try Match(
            bus, from: SignalSender.bus, Match.ownerChange(of: name)
        ) { [unowned self] message in
            if let owner = message.newOwner { present = owner.isEmpty ? nil : owner }
        }
        let call = Call.ofBus("ask for the owner of '\(name)'", "GetNameOwner", [.text(name)])
        try bus.call(call) { [weak self] result in
            do {
                self?.present = try result.get().text()
            } catch let error as BusError
                where error.name == "org.freedesktop.DBus.Error.NameHasNoOwner"
            {
                self?.present = nil
            } catch {
                onFailure()
            }
        }
    }
}

extension Match {
    /// The rest of the rule for a signal of the bus: a name has come or gone.
    static func ownerChange(of name: String) -> String {
        "path='/org/freedesktop/DBus',interface='\(SignalSender.bus)',"
            + "member='NameOwnerChanged',arg0='\(name)'"
    }

    /// Calls `handler` each time that another connection has taken a name.
    package convenience init(
        _ bus: Bus, arrivalOf name: String, handler: @escaping () -> Void
    ) throws(BusError) {
        try self.init(bus, from: SignalSender.bus, Self.ownerChange(of: name)) { message in
            if message.newOwner?.isEmpty == false { handler() }
        }
    }
}

extension Message {
    /// The third argument of a NameOwnerChanged signal, empty if the name has gone; nil if this is another message.
    fileprivate var newOwner: String? {
        content { try ($0.text(), $0.text(), $0.text()).2 }
    }
}

extension Call {
    /// A method of the bus.
    static func ofBus(_ purpose: String, _ member: String, _ arguments: [Argument]) -> Call {
        Call(
            purpose, to: SignalSender.bus, path: "/org/freedesktop/DBus",
            interface: SignalSender.bus, member: member, arguments)
    }
}
